declare module 'ydf-inference' {
  /** A model inside the WASM. */
  export type YdfModel = {
    getInputFeatures(): { name: string; type: string }[]
    getLabelClasses(): string[]
    /** Of two classes: the probability of the second, for each row. */
    predict(examples: Record<string, number[]>): number[]
    unload(): void
  }

  /** One instance of the WASM, with a memory of its own. */
  export type Ydf = { loadModelFromZipBlob(bytes: Uint8Array): Promise<YdfModel> }

  const open: (options: {
    print: (line: string) => void
    printErr: (line: string) => void
  }) => Promise<Ydf>
  export default open
}
