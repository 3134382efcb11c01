import { createRequire } from 'node:module'
import openYdf from 'ydf-training'
import type { Grown, ToGrow } from './grow-trees.ts'

/*
 * Runs in a separate process, because the library needs a global, writes to the console and
 * installs its own handlers for uncaught exceptions.
 */
process.once('message', (asked: ToGrow) => {
  void grow(asked).then(
    (grown) => process.send?.(grown, () => process.disconnect?.()),
    (error: unknown) => {
      process.send?.({ fault: String(error).slice(0, 500) }, () => process.disconnect?.())
    },
  )
})

async function grow({ csv, label }: ToGrow): Promise<Grown> {
  // `ydf-inference` reads and writes its archives with this library.
  const zip: unknown = createRequire(import.meta.resolve('ydf-inference'))('jszip')
  Object.assign(globalThis, { JSZip: zip })
  const quiet = () => undefined
  const ydf = await openYdf({ print: quiet, printErr: quiet })
  const model = new ydf.GradientBoostedTreesLearner(label, 'CLASSIFICATION').train(csv)
  const gains = readGains(model.describe())
  const content = new Uint8Array(await (await model.save()).arrayBuffer())
  model.unload()
  return { content, gains }
}

/** Parses the lines `1. "name" 12.5 ####` below the heading SUM_SCORE. */
function readGains(description: string): Record<string, number> {
  const [, after = ''] = description.split('Variable Importance: SUM_SCORE:')
  const [list = ''] = after.split(/\n\s*\n/)
  return Object.fromEntries(
    [...list.matchAll(/^\s*\d+\.\s+"([^"]+)"\s+([\d.e+-]+)/gm)].map(([, name = '', gain]) => [
      name,
      Number(gain),
    ]),
  )
}
