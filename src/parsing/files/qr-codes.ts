import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import {
  prepareZXingModule,
  purgeZXingModule,
  readBarcodes,
  type ZXingReaderModule,
} from 'zxing-wasm/reader'
import type { Picture } from './picture.ts'

const CODES_MAX = 8

const options = { formats: ['QRCode' as const], maxNumberOfSymbols: CODES_MAX, tryHarder: true }

/** The library takes what browsers call ImageData. */
type Input = Exclude<Parameters<typeof readBarcodes>[0], ArrayBuffer | Blob | Uint8Array>

function imageData({ width, height, data }: Picture): Input {
  return { width, height, data, colorSpace: 'srgb' } as unknown as Input
}

let isReady: Promise<unknown> | undefined
let module: (ZXingReaderModule & { HEAPU8?: Uint8Array }) | undefined

/** Loads the decoder from its package; by default it would be fetched from the Internet. */
export function prepareQrCodes(): Promise<unknown> {
  return (isReady ??= load())
}

/** The memory of the decoder in bytes. It grows with a picture, and never shrinks. */
export function qrMemory(): number {
  return module?.HEAPU8?.length ?? 0
}

/** Gives back the memory of the decoder when garbage is collected. */
export function renewQrCodes(): Promise<unknown> {
  purgeZXingModule()
  return (isReady = load())
}

async function load(): Promise<void> {
  const file = fileURLToPath(import.meta.resolve('zxing-wasm/reader/zxing_reader.wasm'))
  const wasmBinary = Uint8Array.from(await readFile(file)).buffer
  module = await prepareZXingModule({ overrides: { wasmBinary }, fireImmediately: true })
}

/**
 * Returns the contents of the QR codes in a picture, at most 8: a decoded picture, or a file
 * that `examinePicture` has checked. Empty when there are none, or when the file is damaged.
 */
export async function readQrCodes(picture: Picture | Buffer): Promise<string[]> {
  await prepareQrCodes()
  const input = Buffer.isBuffer(picture) ? Uint8Array.from(picture) : imageData(picture)
  const found = await readBarcodes(input, options)
  return found.filter(({ isValid }) => isValid).map(({ text }) => text)
}
