/**
 * Loaded before each script that an unknown Node runs: ends with one sentence where that Node is too old to
 * read the script. Every Node can read this file.
 */
if (Number(process.versions.node.split('.')[0]) < 20) {
  console.error('turnpike: Node ' + process.versions.node + ' is too old; install 20 or newer.')
  process.exit(1)
}
