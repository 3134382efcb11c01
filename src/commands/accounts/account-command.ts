import type { CommandContext } from '../command.ts'

/** `signalpost account`, for the table of commands; what it needs is loaded when it is run. */
export const accountCommand = {
  usage:
    'account add --email E [--password] [--admin] [--token] [--scope S,S] [--unproven]\n' +
    '    [--language L] | list [BEGINNING] | disable E | enable E | no-second-step E',
  summary:
    'make an account, or change it (prints a line of JSON); list them, stop one.\n' +
    '--password is read from standard input',
  async run({ args, config, log }: CommandContext) {
    const { withDatabase } = await import('../open-app.ts')
    if (args[0] === 'add') {
      const { addAccount, parseAccount, readPassword } = await import('../account.ts')
      const { asksPassword, ...asked } = parseAccount(args)
      const request = { ...asked, password: asksPassword ? await readPassword(process) : undefined }
      const answer = await withDatabase(config, log, (app) => addAccount(request, app))
      process.stdout.write(`${JSON.stringify(answer)}\n`)
      return 0
    }
    const { parseAccounts, runAccounts } = await import('./accounts.ts')
    const request = parseAccounts(args)
    const { told, isDone } = await withDatabase(config, log, (app) => runAccounts(request, app))
    process.stdout.write(told)
    return isDone ? 0 : 1
  },
}
