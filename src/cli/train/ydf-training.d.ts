declare module 'ydf-training' {
  /** A model that was just trained. */
  export type TrainedModel = {
    /** A description as text, with the importance of the features. */
    describe(): string
    save(): Promise<Blob>
    unload(): void
  }

  /** An instance of the WASM module. Its only settings are the column to predict and its type. */
  export type YdfTraining = {
    GradientBoostedTreesLearner: new (
      label: string,
      task: 'CLASSIFICATION',
    ) => { train(csv: string): TrainedModel }
  }

  const open: (options: {
    print: (line: string) => void
    printErr: (line: string) => void
  }) => Promise<YdfTraining>
  export default open
}
