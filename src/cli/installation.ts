import { type Command, describe, operatorCommand, refuseArguments } from './command-table.ts'

/** The commands about the installation itself, rather than about what it stores. */
export function installationCommands(io: {
  say: (text: string) => void
  env: NodeJS.ProcessEnv
}): Record<string, Command> {
  const around = () => ({ env: io.env, execArgv: process.execArgv, cwd: process.cwd() })
  return {
    version: {
      usage: 'version',
      summary: 'print the versions of Signalpost, Node.js and the schema of the database',
      async runAlone(args) {
        refuseArguments(args)
        const { programVersion } = await import('../health/heartbeat.ts')
        const { expectedMigrations } = await import('../db/installation.ts')
        io.say(`Signalpost ${programVersion()}`)
        io.say(`Node.js ${process.versions.node}`)
        io.say(`Schema ${(await expectedMigrations()).at(-1)}`)
        return 0
      },
    },
    setup: {
      usage: 'setup [--folder FOLDER]',
      summary:
        'ask ten questions, and write the settings, a DKIM key and the DNS records to publish;\n' +
        '      FOLDER is /etc/signalpost by default',
      async runAlone(args) {
        const { parseSetup, setup } = await import('./setup.ts')
        await setup(parseSetup(args), { input: process.stdin, print: io.say })
        return 0
      },
    },
    config: {
      usage: 'config',
      summary: 'print the settings in effect and where each comes from; secrets are hidden',
      async runAlone(args) {
        refuseArguments(args)
        const { showSettings } = await import('./show-settings.ts')
        const { text, problems } = await showSettings(around())
        io.say(text)
        if (problems !== undefined) throw problems
        return 0
      },
    },
    doctor: {
      usage: 'doctor',
      summary:
        'check this installation: settings, database, ports, disk, clock, mail server, DNS;\n' +
        '      says what to do, and exits with 1 if there is a problem',
      async run({ args, config }) {
        refuseArguments(args)
        const { doctor } = await import('./doctor/doctor.ts')
        const { text, isSound } = await doctor(config, around())
        io.say(text)
        return isSound ? 0 : 1
      },
    },
    secret: secretCommand(io.say),
  }
}

function secretCommand(say: (text: string) => void): Command {
  const others = operatorCommand(() => import('./secret.ts'))
  return {
    async describe() {
      const summary = 'prepare a new secret in the data folder; with SECRET, print one'
      return [...(await describe(others)), { usage: 'secret new', summary }]
    },
    async run(context) {
      const { args, config } = context
      if (args[0] !== 'new') return others.run(context)
      refuseArguments(args.slice(1))
      const { prepareSecret } = await import('../processes/data-dir.ts')
      say(await prepareSecret(config))
      return 0
    },
  }
}
