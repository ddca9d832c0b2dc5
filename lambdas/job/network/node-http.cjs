// Stands in for `node:http` in what esbuild builds. An import of that module reads all of its exports, and some of them
// (WebSocket and its events) load the copy of undici that Node.js holds: 25 ms of each start, for nothing.
module.exports = process.getBuiltinModule("node:http");
