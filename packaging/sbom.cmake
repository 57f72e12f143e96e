# Beside a package: what is in it, as SPDX 2.3 (https://spdx.github.io/spdx-spec/v2.3/).
# sbom(FILE PROGRAM): PROGRAM is the packaged one. The same package gives the same bytes.
function(sbom file program)
  file(SHA1 ${program} sha1)
  file(SHA256 ${program} sha256)
  set(created 1970-01-01T00:00:00Z)
  if(NOT "$ENV{SOURCE_DATE_EPOCH}" STREQUAL "")
    string(TIMESTAMP created "%Y-%m-%dT%H:%M:%SZ" UTC)  # CMake takes SOURCE_DATE_EPOCH for now
  endif()
  set(packages "")
  set(relations "")
  foreach(component IN LISTS CPACK_MEMTRACE_COMPONENTS)
    string(REGEX MATCH "^([^|]*)[|]([^|]*)[|]([^|]*)$" matched "${component}")
    set(name "${CMAKE_MATCH_1}")
    set(version "${CMAKE_MATCH_2}")
    set(licence "${CMAKE_MATCH_3}")
    string(REGEX REPLACE "[^A-Za-z0-9.-]" "-" id "${name}")
    string(APPEND packages ",
    {
      \"SPDXID\": \"SPDXRef-${id}\",
      \"name\": \"${name}\",
      \"versionInfo\": \"${version}\",
      \"downloadLocation\": \"NOASSERTION\",
      \"filesAnalyzed\": false,
      \"licenseConcluded\": \"NOASSERTION\",
      \"licenseDeclared\": \"${licence}\",
      \"copyrightText\": \"NOASSERTION\"
    }")
    string(APPEND relations ",
    {
      \"spdxElementId\": \"SPDXRef-memtrace\",
      \"relationshipType\": \"DEPENDS_ON\",
      \"relatedSpdxElement\": \"SPDXRef-${id}\"
    }")
  endforeach()
  file(
    WRITE ${file}
    "{
  \"spdxVersion\": \"SPDX-2.3\",
  \"dataLicense\": \"CC0-1.0\",
  \"SPDXID\": \"SPDXRef-DOCUMENT\",
  \"name\": \"memtrace-${CPACK_PACKAGE_VERSION}\",
  \"documentNamespace\": \"https://spdx.org/spdxdocs/memtrace-${CPACK_PACKAGE_VERSION}-${sha256}\",
  \"creationInfo\": {
    \"created\": \"${created}\",
    \"creators\": [\"Tool: memtrace-packaging-${CPACK_PACKAGE_VERSION}\"]
  },
  \"hasExtractedLicensingInfos\": [
    {
      \"licenseId\": \"LicenseRef-public-domain\",
      \"extractedText\": \"liblzma is in the public domain.\"
    }
  ],
  \"packages\": [
    {
      \"SPDXID\": \"SPDXRef-memtrace\",
      \"name\": \"memtrace\",
      \"versionInfo\": \"${CPACK_PACKAGE_VERSION}\",
      \"downloadLocation\": \"NOASSERTION\",
      \"filesAnalyzed\": false,
      \"licenseConcluded\": \"GPL-2.0-or-later\",
      \"licenseDeclared\": \"GPL-2.0-or-later\",
      \"copyrightText\": \"Copyright 2026 the memtrace authors\"
    }${packages}
  ],
  \"files\": [
    {
      \"SPDXID\": \"SPDXRef-program\",
      \"fileName\": \"./usr/bin/memtrace\",
      \"checksums\": [
        {\"algorithm\": \"SHA1\", \"checksumValue\": \"${sha1}\"},
        {\"algorithm\": \"SHA256\", \"checksumValue\": \"${sha256}\"}
      ],
      \"licenseConcluded\": \"GPL-2.0-or-later\",
      \"licenseInfoInFiles\": [\"NOASSERTION\"],
      \"copyrightText\": \"NOASSERTION\"
    }
  ],
  \"relationships\": [
    {
      \"spdxElementId\": \"SPDXRef-DOCUMENT\",
      \"relationshipType\": \"DESCRIBES\",
      \"relatedSpdxElement\": \"SPDXRef-memtrace\"
    },
    {
      \"spdxElementId\": \"SPDXRef-memtrace\",
      \"relationshipType\": \"CONTAINS\",
      \"relatedSpdxElement\": \"SPDXRef-program\"
    }${relations}
  ]
}
")
endfunction()
