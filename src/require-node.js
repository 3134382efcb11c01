// Plain JavaScript, because an old Node.js refuses a file in TypeScript before it reads it.
const NODE_MAJOR_MIN = 26

if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
  process.stderr.write(
    `Signalpost needs Node.js ${NODE_MAJOR_MIN} or newer instead of ${process.versions.node}: ` +
      '"npm ci" without "--omit=optional" installs it, and "npm start" and "signalpost" use it.\n',
  )
  process.exit(1)
}
