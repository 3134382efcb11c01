declare module 'ydf-inference' {
  /** A model loaded in the WASM instance. */
  export type YdfModel = {
    getInputFeatures(): { name: string; type: string }[]
    getLabelClasses(): string[]
    /** Returns the probability of the second of two classes, for each row. */
    predict(examples: Record<string, number[]>): number[]
    unload(): void
  }

  /** One WASM instance with its own memory. */
  export type Ydf = { loadModelFromZipBlob(bytes: Uint8Array): Promise<YdfModel> }

  const open: (options: {
    print: (line: string) => void
    printErr: (line: string) => void
  }) => Promise<Ydf>
  export default open
}
