import { createReaderChild } from '../../src/parsing/files/reader-child.ts'
import { codeOf, slowPdf } from './bombs.ts'

// Starts a process that reads files, says its id, and stays: idle, or while a file is read that
// takes long.
const isBusy = process.argv[2] === 'busy'
const child = createReaderChild(() => 0)
const { promise, resolve: settle } = Promise.withResolvers<unknown>()
const file = { needsLook: false, memory: 40_000_000, msMax: 600_000 }
const isAwaited = () => true
if (isBusy) child.add({ file: { ...file, kind: 'pdf', content: slowPdf(9) }, isAwaited, settle })
else
  child.add({
    file: { ...file, kind: 'picture', content: codeOf('https://a.example/') },
    isAwaited,
    settle,
  })
if (!isBusy) await promise
setTimeout(() => console.log(child.pid()), isBusy ? 5_000 : 0)
setInterval(() => undefined, 1_000)
