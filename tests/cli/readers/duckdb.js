// What DuckDB answers: node duckdb.js FOLDER_OF_PACKAGES QUERY. Prints the rows as one line of JSON.
const path = require('path');
const [folder, query] = process.argv.slice(2);
const {DuckDBInstance} = require(path.join(folder, '@duckdb', 'node-api'));

async function answer() {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const reader = await connection.runAndReadAll(query);
  console.log(JSON.stringify(reader.getRowObjectsJson()));
}
answer().catch((error) => { console.error(String(error)); process.exit(1); });
