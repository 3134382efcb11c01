import { createQueue, type Added, type Kind, type Queue, type Sending } from './queue.ts'
import { withoutOwnLines } from './own-lines.ts'
import { pageOf, postReport } from './service.ts'
import type { Settings } from './settings.ts'
import { readSettings } from './stored-settings.ts'

type Message = messenger.messages.MessageHeader
type Tab = messenger.tabs.Tab

/** A request of the add-on's pages. */
export type Request =
  | { do: 'report'; messages: Message[]; kind: Kind; comment: string }
  | { do: 'send' }
  | { do: 'list' }

const say = messenger.i18n.getMessage
const { local } = messenger.storage

const queue: Queue = createQueue({
  store: {
    get: async (key) => (await local.get(key))[key],
    set: (items) => local.set(items),
    remove: (key) => local.remove(key),
  },
  now: Date.now,
  createKey: () => crypto.randomUUID(),
  async post(report) {
    const { settings } = await readSettings()
    return isReady(settings) ? postReport(settings, report) : { is: 'signed-out' }
  },
})

function isReady({ server, token }: Settings): boolean {
  return server !== '' && token !== ''
}

/** Reports messages: stores them in the queue, moves them if wished, and sends the queue. */
async function report(messages: readonly Message[], kind: Kind, comment = ''): Promise<void> {
  const { settings } = await readSettings()
  if (!isReady(settings)) return messenger.runtime.openOptionsPage()
  if (messages.length === 0) return notify(say('none'))
  let known: Added | undefined
  let added = 0
  let failed = 0
  for (const message of messages) {
    const result = await keep(message, kind, comment).catch(() => undefined)
    if (result === 'full') {
      await notify(say('full'))
      break
    }
    if (result === undefined) {
      failed++
      continue
    }
    if (result === 'new') added++
    else known = result
    await handle(message, kind, settings).catch(() => notify(say('notMoved')))
  }
  if (failed > 0) await notify(say('failed', String(failed)))
  if (added > 0) return sendAndTell()
  if (typeof known === 'object') await notify(say('already'), known.sent.id)
  else if (known === 'waiting') await notify(say('waiting'))
}

async function keep(message: Message, kind: Kind, comment: string): Promise<Added> {
  const file = await messenger.messages.getRaw(message.id, { data_format: 'File' })
  const raw = withoutOwnLines(new Uint8Array(await (file as File).arrayBuffer()))
  return queue.add({ raw, kind, comment, subject: message.subject.slice(0, 200) })
}

/** Marks a reported message as junk and moves it to Junk, or the reverse. */
async function handle({ id, folder }: Message, kind: Kind, settings: Settings): Promise<void> {
  if (!settings.movesToJunk) return
  const isJunk = kind !== 'not-spam'
  await messenger.messages.update(id, { junk: isJunk })
  const accountId = folder?.accountId
  if (!folder || accountId === undefined) return
  const isInJunk = folder.specialUse?.includes('junk') ?? false
  if (isInJunk === isJunk) return
  const specialUse = isJunk ? 'junk' : 'inbox'
  const [target] = await messenger.folders.query({ accountId, specialUse: [specialUse] })
  if (target?.id !== undefined) await messenger.messages.move([id], target.id)
}

/** Sends the queue after an action of the user. */
async function sendAndTell(): Promise<void> {
  const sending = await sendQuietly(true)
  if (sending.lacksWayIn) await offerLetter()
  if (sending.stopped === 'away') await notify(say('away'))
  if (sending.stopped === 'signed-out') await notify(say('signedOut'), 'options')
}

const OFFERED_MS = 7 * 24 * 3_600_000

/** Offers a test message, at most once a week. */
async function offerLetter(): Promise<void> {
  const { offeredAt } = await local.get('offeredAt')
  if (typeof offeredAt === 'number' && Date.now() - offeredAt < OFFERED_MS) return
  await local.set({ offeredAt: Date.now() })
  await notify(say('letterOffer'), 'letter')
}

/** Sends the queue; a failure is not shown, because it was shown before. */
async function sendQuietly(all: boolean): Promise<Sending> {
  const sending = await queue.send(all)
  const { sent, refused } = sending
  await setAlarm()
  const [only, ...others] = sent
  if (only) await notify(say('sent', String(1 + others.length)), only.id)
  if (refused.length > 0) await notify(say('refused', refused.join('\n')))
  return sending
}

/** Wakes this page for the next attempt. */
async function setAlarm(): Promise<void> {
  const { dueAt } = await queue.list()
  if (dueAt === undefined) await messenger.alarms.clear('send')
  else await messenger.alarms.create('send', { when: Math.max(dueAt, Date.now() + 1_000) })
}

/** Shows a notification. A click on it opens the page of a report, or the options. */
async function notify(message: string, opens = ''): Promise<void> {
  const iconUrl = messenger.runtime.getURL('icon.svg')
  const title = say('name')
  const id = `${opens} ${crypto.randomUUID()}`
  await messenger.notifications.create(id, { type: 'basic', title, message, iconUrl })
}

messenger.notifications.onClicked.addListener(async (id) => {
  const [opens = ''] = id.split(' ')
  if (opens === 'options') return messenger.runtime.openOptionsPage()
  if (opens === 'letter') return void (await openPage('letter.html'))
  const { settings } = await readSettings()
  if (opens !== '') await messenger.windows.openDefaultBrowser(pageOf(settings.server, opens))
})

async function chosenMessages({ id, type }: Tab): Promise<Message[]> {
  if (id === undefined) return []
  if (type === 'mail') return allPages(await messenger.mailTabs.getSelectedMessages(id))
  // With Manifest V3 this is a list; the types describe Manifest V2.
  const shown: unknown = await messenger.messageDisplay.getDisplayedMessages(id)
  return allPages(shown as messenger.messages.MessageList)
}

async function allPages(first: messenger.messages.MessageList): Promise<Message[]> {
  const messages = [...first.messages]
  let { id } = first
  while (id) {
    const page = await messenger.messages.continueList(id)
    messages.push(...page.messages)
    id = page.id
  }
  return messages
}

const reportSpam = async (tab: Tab) => report(await chosenMessages(tab), 'spam')
messenger.action.onClicked.addListener(reportSpam)
messenger.messageDisplayAction.onClicked.addListener(reportSpam)
messenger.commands.onCommand.addListener((_name, tab) => reportSpam(tab))

const menuItems = { spam: 'reportSpam', phishing: 'reportPhishing', 'not-spam': 'reportNotSpam' }

async function createMenu(): Promise<void> {
  await messenger.menus.removeAll()
  const buttons = ['action', 'message_display_action'] as const
  for (const [id, text] of Object.entries({ ...menuItems, comment: 'reportWithComment' })) {
    messenger.menus.create({ id, title: say(text), contexts: ['message_list', ...buttons] })
  }
  messenger.menus.create({ id: 'settings', title: say('settings'), contexts: [...buttons] })
}

messenger.menus.onClicked.addListener(async ({ menuItemId, selectedMessages }, tab) => {
  if (menuItemId === 'settings') return messenger.runtime.openOptionsPage()
  const messages = selectedMessages
    ? await allPages(selectedMessages)
    : tab
      ? await chosenMessages(tab)
      : []
  if (menuItemId !== 'comment') return report(messages, menuItemId as Kind)
  const ids = messages.map(({ id }) => id).join(',')
  await openPage(`comment.html?ids=${ids}`)
})

function openPage(url: string): Promise<unknown> {
  return messenger.windows.create({ type: 'popup', url, width: 480, height: 420 })
}

// Also called for our own marks and for the automatic filter: the queue knows what was reported.
messenger.messages.onUpdated.addListener(async (message, { junk }) => {
  const { settings } = await readSettings()
  if (!junk || !settings.reportsJunk || !isReady(settings)) return
  if ((await keep(message, 'spam', '')) === 'new') await sendAndTell()
})

messenger.alarms.onAlarm.addListener(() => sendQuietly(false))

messenger.runtime.onMessage.addListener(async (request: Request) => {
  if (request.do === 'list') return queue.list()
  if (request.do === 'send') return sendAndTell()
  return report(request.messages, request.kind, request.comment)
})

messenger.runtime.onInstalled.addListener(async ({ reason }) => {
  await createMenu()
  const { settings } = await readSettings()
  if (reason === 'install' && !isReady(settings)) await messenger.runtime.openOptionsPage()
  await sendQuietly(true)
})
messenger.runtime.onStartup.addListener(async () => {
  await createMenu()
  await sendQuietly(true)
})
