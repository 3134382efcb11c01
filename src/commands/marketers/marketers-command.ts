import type { CommandContext } from '../command.ts'

/** `signalpost marketers`, for the table of commands; what it needs is loaded when it is run. */
export const marketersCommand = {
  usage:
    'marketers import FILE [--dry-run] | export [--jsonl] | list | show KEY | remove KEY |\n' +
    '    set KEY [--state S] [--name N] [--signers A,B] [--ranges A,B] [--list-ids A,B]\n' +
    '        [--authors A,B] [--website U] [--contact A] [--feedback A] |\n' +
    '    proposals [take|dismiss SIGNER [LIST-ID]]',
  summary: 'keep the registry of who mails in bulk and says so; "-" is standard input',
  async run({ args, config, log }: CommandContext) {
    const { parseMarketers } = await import('./marketers-request.ts')
    const request = parseMarketers(args)
    const { runMarketers } = await import('./marketers.ts')
    const { withDatabase } = await import('../open-app.ts')
    return runMarketers(request, (chore) => withDatabase(config, log, chore), process)
  },
}
