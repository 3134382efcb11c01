import type { CommandContext } from '../command.ts'
import { shownText } from '../../http/shown-text.ts'

const COMPLAINT_CHARS_MAX = 20_000

/** The commands about networks, as `main.ts` lists them. What is behind them is loaded late. */
export const networkCommands = {
  import: {
    usage: 'import networks FILE [--as NAME] [--format auto|csv|ip2asn|rir|mmdb]',
    summary: 'import who has which addresses: CSV, IP-to-AS, RIR statistics or MaxMind, also .gz',
    async run({ args, config, log }: CommandContext): Promise<number> {
      const { importNetworks, parseImport, progressOn } = await import('./import-networks.ts')
      const { file, ...options } = parseImport(args)
      const { withDatabase } = await import('../open-app.ts')
      const progress = progressOn(process.stderr)
      const { setFlagsFromString } = await import('node:v8')
      // A table leaves nothing but garbage: without this V8 gives it 60 MB more.
      setFlagsFromString('--semi-space-growth-factor=1')
      const done = await withDatabase(config, log, (app) =>
        importNetworks(file, app, { ...options, tell: progress.tell }),
      ).finally(progress.end)
      print(`Imported ${done.ranges} ranges as ${done.blocks} blocks from ${done.source}.`)
      if (done.skipped > 0) print(`Skipped ${done.skipped} lines that tell of no network.`)
      return 0
    },
  },
  networks: {
    usage:
      'networks show IP | list | drop SOURCE | unset CIDR |\n' +
      '    set CIDR [--abuse A,B|none] [--name N] [--asn N] [--country CC]',
    summary: 'show who answers for an address; say it by hand, before all imported tables',
    async run({ args, config, log }: CommandContext): Promise<number> {
      const { parseNetworks, runNetworks } = await import('./networks.ts')
      const request = parseNetworks(args)
      const { withDatabase } = await import('../open-app.ts')
      print(await withDatabase(config, log, (app) => runNetworks(request, app)))
      return 0
    },
  },
  contact: {
    usage: 'contact IP',
    summary: 'ask the Internet registries who answers for an address; needs no database',
    async run({ args, config }: CommandContext): Promise<number> {
      const { askForContact, openRdap, parseContact } = await import('../contact.ts')
      const io = { print, complain }
      return (await askForContact(parseContact(args), openRdap(config), io)) ? 0 : 1
    },
  },
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

function complain(text: string): void {
  process.stderr.write(`${shownText(text, COMPLAINT_CHARS_MAX)}\n`)
}
