import openYdf from 'ydf-inference'
import type { Ydf, YdfModel } from 'ydf-inference'
import { featureReader } from './features.ts'
import { type KeptModel, logistic, logit, type Model, ModelFault } from './model.ts'

const BYTES_MAX = 64_000_000

/** The label to predict, as in the training rows. */
export const unwantedLabel = 'unwanted'

/**
 * Loads a model made by `signalpost train`: YDF trees, evaluated by YDF's WASM. Each model has its
 * own instance and memory (13 MB), so a model that crashes it affects no other.
 *
 * @throws ModelFault when the model cannot be read
 */
export async function loadYdf(kept: Omit<KeptModel, 'format'>): Promise<Model> {
  const { version, content, calibration } = kept
  if (content.length > BYTES_MAX) {
    throw new ModelFault(`The model is larger than ${BYTES_MAX / 1e6} MB.`)
  }
  const inner = await openModel(content)
  const features = inner.getInputFeatures().map(({ name }) => name)
  const read = featureReader(features)
  const classes = inner.getLabelClasses()
  if (!read || features.length === 0 || classes.length !== 2 || !classes.includes(unwantedLabel)) {
    inner.unload()
    throw new ModelFault(
      'The model was not trained by Signalpost: its features or classes are unknown.',
    )
  }
  const sign = classes[1] === unwantedLabel ? 1 : -1
  // One row is reused for all messages, to avoid garbage collection.
  const cells = features.map(() => [0])
  const rows = Object.fromEntries(features.map((name, at) => [name, cells[at] ?? [0]]))
  return {
    version,
    features,
    apply(facts, symbols) {
      const row = read(facts, symbols)
      for (let at = 0; at < cells.length; at++) {
        const cell = cells[at]
        if (cell) cell[0] = row[at] ?? 0
      }
      const logOdds = sign * logit(inner.predict(rows)[0] ?? 0.5)
      return logistic(calibration.slope * logOdds + calibration.intercept)
    },
    close: () => inner.unload(),
  }
}

/** Opens a model. The library reports errors by aborting, with messages for its developers. */
async function openModel(content: Uint8Array): Promise<YdfModel> {
  const output: string[] = []
  const note = (line: string) => {
    if (output.length < 20) output.push(line)
  }
  try {
    const ydf = await openQuietly(note)
    return await ydf.loadModelFromZipBlob(content)
  } catch (cause) {
    const last = output.at(-1)?.slice(0, 200) ?? ''
    throw new ModelFault(`The model cannot be read. ${last}`.trim(), { cause })
  }
}

/**
 * Loads the library without its handlers of uncaught exceptions, which would run before our own.
 */
async function openQuietly(note: (line: string) => void): Promise<Ydf> {
  const events = ['uncaughtException', 'unhandledRejection'] as const
  const before = events.map((event) => new Set(process.listeners(event as 'uncaughtException')))
  const opening = openYdf({ print: note, printErr: note })
  for (const [at, event] of events.entries()) {
    for (const listener of process.listeners(event as 'uncaughtException')) {
      if (!before[at]?.has(listener)) process.removeListener(event, listener)
    }
  }
  return opening
}
