import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import path from 'node:path'
import { buildThunderbird } from '../../src/web/reporting/thunderbird.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/process.ts'

/** How long Thunderbird may take to quit: without a display, it sometimes does not end. */
const QUIT_MS = 8_000
const ADD_ON = 'thunderbird@signalpost.example'

/** A real Thunderbird without a display, with one IMAP account and the add-on. */
export type Thunderbird = {
  /** Runs the body of an asynchronous function with the rights of the program. */
  run: <T>(body: string, ...args: unknown[]) => Promise<T>
  quit: () => Promise<void>
}

/**
 * Starts Thunderbird with a profile in `folder`, where a later start finds the same state.
 *
 * @throws Error if it is not installed, because a skipped test would show nothing
 */
export async function startThunderbird(
  folder: string,
  { imapPort, policy }: { imapPort: number; policy: Record<string, unknown> },
): Promise<Thunderbird> {
  const marionettePort = await freePort()
  await writeProfile(folder, { imapPort, policy, marionettePort })
  const args = ['--headless', '--no-remote', '--profile', path.join(folder, 'profile')]
  const child = spawn(
    process.env['THUNDERBIRD'] ?? 'thunderbird',
    [...args, '--marionette', '--remote-allow-system-access'],
    { stdio: 'ignore', env: { ...process.env, HOME: folder, MOZ_CRASHREPORTER_DISABLE: '1' } },
  )
  const failed = once(child, 'error').then(([cause]) => {
    throw new Error('Thunderbird is missing: apt-get install thunderbird', { cause })
  })
  const socket = await Promise.race([
    until('Marionette', () => open(marionettePort)),
    failed,
  ]).catch((cause: unknown) => {
    child.kill('SIGKILL')
    throw cause
  })
  const send = createClient(socket)
  await send('WebDriver:NewSession', {})
  await send('Marionette:SetContext', { value: 'chrome' })
  await send('WebDriver:SetTimeouts', { script: 30_000 })
  const run: Thunderbird['run'] = async (body, ...values) => {
    const script = `
      const [...args] = arguments
      const done = args.pop()
      const { MailServices } = ChromeUtils.importESModule(
        'resource:///modules/MailServices.sys.mjs')
      const window = Services.wm.getMostRecentWindow('mail:3pane')
      const find = async (name, look) => {
        for (let tries = 0; tries < 400; tries++) {
          const found = await look()
          if (found) return found
          await new Promise((resolve) => window.setTimeout(resolve, 50))
        }
        throw new Error('missing: ' + name)
      }
      const work = async () => { ${body} }
      work().then((value) => done({ value }), (error) => done({ error: String(error) }))`
    const answer = await send('WebDriver:ExecuteAsyncScript', { script, args: values })
    const { value, error } = (answer as { value: { value: unknown; error?: string } }).value
    if (error !== undefined) throw new Error(error)
    return value as never
  }
  await run(openAccount, ADD_ON).catch((cause: unknown) => {
    child.kill('SIGKILL')
    throw cause
  })
  return {
    run,
    async quit() {
      const timer = setTimeout(() => child.kill('SIGKILL'), QUIT_MS)
      await send('Marionette:Quit', { flags: ['eForceQuit'] }).catch(() => undefined)
      await ended(child)
      clearTimeout(timer)
      socket.destroy()
    },
  }
}

/** Stores the password, also for a later start, opens the inbox, and waits for the add-on. */
const openAccount = `
  const [addOn] = args
  await find('add-on', () => WebExtensionPolicy.getByID(addOn)?.extension?.backgroundContext ||
    WebExtensionPolicy.getByID(addOn)?.extension?.backgroundState)
  const [server] = MailServices.accounts.allServers.filter(({ type }) => type === 'imap')
  const origin = 'imap://127.0.0.1'
  if ((await Services.logins.searchLoginsAsync({ origin })).length === 0) {
    const login = Components.classes['@mozilla.org/login-manager/loginInfo;1']
      .createInstance(Components.interfaces.nsILoginInfo)
    login.init(origin, null, origin, 'ann', 'password', '', '')
    await Services.logins.addLoginAsync(login)
  }
  // A change of the stored logins clears it.
  server.password = 'password'
  const { currentAbout3Pane: pane } = await find('window', () => window.gTabmail?.currentAbout3Pane
    && window.gTabmail)
  server.performExpand(null)
  const inbox = await find('inbox', () => server.rootFolder.getFolderWithFlags(0x1000))
  await find('junk', () => server.rootFolder.getFolderWithFlags(0x40000000))
  await find('pane', () => pane.displayFolder)
  pane.displayFolder(inbox)
  inbox.getNewMessages(null, null)`

async function writeProfile(
  folder: string,
  given: { imapPort: number; policy: Record<string, unknown>; marionettePort: number },
): Promise<void> {
  const profile = path.join(folder, 'profile')
  await mkdir(path.join(profile, 'extensions'), { recursive: true })
  await writeFile(path.join(profile, 'extensions', `${ADD_ON}.xpi`), await buildThunderbird())
  const server = { type: 'imap', hostname: '127.0.0.1', port: given.imapPort, userName: 'ann' }
  const preferences = {
    'marionette.port': given.marionettePort,
    'extensions.autoDisableScopes': 0,
    'extensions.enabledScopes': 15,
    'mail.provider.suppress_dialog_on_startup': true,
    'mail.spotlight.firstRunDone': true,
    'mailnews.start_page.enabled': false,
    'mail.shell.checkDefaultClient': false,
    'mail.accountmanager.accounts': 'account1',
    'mail.accountmanager.defaultaccount': 'account1',
    'mail.account.account1.server': 'server1',
    'mail.account.account1.identities': 'id1',
    'mail.identity.id1.useremail': 'ann@home.example',
    'mail.server.server1.socketType': 0,
    'mail.server.server1.authMethod': 3,
    'mail.server.server1.login_at_startup': false,
    ...Object.fromEntries(
      Object.entries(server).map(([name, value]) => [`mail.server.server1.${name}`, value]),
    ),
  }
  const lines = Object.entries(preferences).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`,
  )
  await writeFile(path.join(profile, 'user.js'), lines.join(''))
  const managed = path.join(folder, '.mozilla/managed-storage')
  await mkdir(managed, { recursive: true })
  const storage = { name: ADD_ON, description: 'settings', type: 'storage', data: given.policy }
  await writeFile(path.join(managed, `${ADD_ON}.json`), JSON.stringify(storage))
}

async function open(port: number): Promise<Socket | undefined> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return socket
  } catch {
    return undefined
  }
}

/** A client of the protocol Marionette: JSON arrays, each after its length and a colon. */
function createClient(socket: Socket) {
  const waiting = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (e: Error) => void }
  >()
  let bytes = Buffer.alloc(0)
  let last = 0
  socket.on('error', () => undefined)
  socket.on('close', () => waiting.forEach(({ reject }) => reject(new Error('closed'))))
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
    for (;;) {
      const colon = bytes.indexOf(':')
      const end = colon + 1 + Number(bytes.toString('latin1', 0, Math.max(colon, 0)))
      if (colon < 0 || bytes.length < end) return
      const message: unknown = JSON.parse(bytes.toString('utf8', colon + 1, end))
      bytes = bytes.subarray(end)
      // The greeting is an object.
      if (!Array.isArray(message)) continue
      const [, id, error, value] = message as [number, number, unknown, unknown]
      const one = waiting.get(id)
      if (error) one?.reject(new Error(JSON.stringify(error)))
      else one?.resolve(value)
    }
  })
  return (command: string, params: object): Promise<unknown> => {
    const text = JSON.stringify([0, ++last, command, params])
    const id = last
    socket.write(`${Buffer.byteLength(text)}:${text}`)
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
