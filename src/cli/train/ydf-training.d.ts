declare module 'ydf-training' {
  /** Trees that were just made. */
  export type TrainedModel = {
    /** A text for people, with the importance of the features. */
    describe(): string
    save(): Promise<Blob>
    unload(): void
  }

  /** An instance of the WASM. It has no settings but the column to predict and what it is. */
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
