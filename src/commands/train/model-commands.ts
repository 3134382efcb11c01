import type { CommandContext } from '../command.ts'

/** The commands about models, as `main.ts` lists them. What is behind them is loaded late. */
export const modelCommands = {
  train: {
    usage:
      'train [--from-reports] [--days N] [--files DIR:LABEL]… [--split campaign|time]\n' +
      '    [--seed N] [--out FILE.json] [--rows FILE.csv]',
    summary: 'train a model from labeled reports and files, and measure it; it does not act yet',
    async run({ args, config, log }: CommandContext): Promise<number> {
      const { parseTrain, train } = await import('./train.ts')
      const request = parseTrain(args)
      const { withDatabase } = await import('../open-app.ts')
      const tell = (line: string) => process.stderr.write(`${line}\n`)
      return print(await withDatabase(config, log, (app) => train(request, app, tell)))
    },
  },
  models: {
    usage:
      'models list | show V | promote V | rollback |\n' +
      '    import FILE.json --format catboost | export V FILE',
    summary: 'show the versions of the model, promote one, roll back, import from CatBoost',
    async run({ args, config, log }: CommandContext): Promise<number> {
      const { parseModels, runModels } = await import('./models.ts')
      const request = parseModels(args)
      const { withDatabase } = await import('../open-app.ts')
      return print(await withDatabase(config, log, (app) => runModels(request, app)))
    },
  },
}

function print(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}
