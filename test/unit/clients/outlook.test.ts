import { readFileSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'

const file = new URL('../../../clients/outlook/report.js', import.meta.url)
const source = readFileSync(file, 'utf8').replace('{server}', 'https://spam.example')
const id = '0193592e-6d5c-7c56-8000-000000000000'
const base64 = 'RnJvbTogYUB4LmV4YW1wbGUNCg0K'

type Fetch = (url: string, request: RequestInit) => Promise<unknown>
type Given = {
  token?: unknown
  /** What getAsFileAsync passes to its callback; `throws` and `silent` mean what they say. */
  message?: { status: string; value?: string } | 'throws' | 'silent'
  fetch?: Fetch
  language?: string
  event?: { options?: boolean[]; freeText?: string }
}

const succeeded = { status: 'succeeded', value: base64 }
const answering =
  (status: number, body: unknown = { id }): Fetch =>
  async () => ({ status, json: async () => body })

/** Runs the script as Outlook for Windows does: with Office and the clock, and without a page. */
async function runScript(given: Given) {
  const message = given.message ?? succeeded
  const completions: Record<string, unknown>[] = []
  const requests: { url: string; request: RequestInit }[] = []
  let expire: () => void = () => undefined
  let handler: ((event: object) => void) | undefined
  const Office = {
    AsyncResultStatus: { Succeeded: 'succeeded', Failed: 'failed' },
    MailboxEnums: { MoveSpamItemTo: { JunkFolder: 'junk', NoMove: 'stay' } },
    actions: { associate: (_name: string, run: typeof handler) => (handler = run) },
    context: {
      displayLanguage: given.language ?? 'en-US',
      roamingSettings: { get: () => ('token' in given ? given.token : 'sp_token') },
      mailbox: {
        item: {
          getAsFileAsync(callback: (result: object) => void) {
            if (message === 'throws') throw new Error('not in this mode')
            if (message !== 'silent') callback(message)
          },
        },
      },
    },
  }
  const fetch: Fetch = (url, request) => {
    requests.push({ url, request })
    return (given.fetch ?? answering(202))(url, request)
  }
  const setTimeout = (run: () => void) => void (expire = run)
  const clearTimeout = () => undefined
  runInNewContext(source, { Office, fetch, setTimeout, clearTimeout })
  handler?.({
    type: 'SpamReporting',
    options: [false],
    freeText: '',
    ...given.event,
    completed: (outcome: Record<string, unknown>) => completions.push(outcome),
  })
  await nextTurn()
  return { completions, requests, expire: () => expire() }
}

test('a report is sent with the token, and the message moves to Junk', async () => {
  const event = { options: [true], freeText: ' a comment ' }
  const { completions, requests } = await runScript({ event })
  expect(requests).toHaveLength(1)
  expect(requests[0]?.url).toBe('https://spam.example/api/v1/reports')
  expect(requests[0]?.request.headers).toMatchObject({ authorization: 'Bearer sp_token' })
  expect(JSON.parse(String(requests[0]?.request.body))).toEqual({
    message_base64: base64,
    kind: 'phishing',
    comment: 'a comment',
  })
  expect(completions).toMatchObject([{ moveItemTo: 'junk', onErrorDeleteItem: false }])
})

test('if the service does not know the way in, the dialog says what to do', async () => {
  const fetch = answering(202, { id, way_in: 'unknown' })
  for (const [language, words] of [
    ['en-GB', /“Send me a test message”/],
    ['fr-FR', /« M’envoyer un message de test »/],
    ['ru-RU', /«Прислать мне проверочное письмо»/],
  ] as const) {
    const { completions } = await runScript({ fetch, language })
    const description: unknown = expect.stringMatching(words)
    expect(completions).toMatchObject([
      { moveItemTo: 'junk', showPostProcessingDialog: { description } },
    ])
  }
})

test.for<[string, Given, RegExp]>([
  ['there is no token', { token: undefined }, /settings/],
  ['the message cannot be read', { message: { status: 'failed' } }, /could not provide/],
  ['the message is empty', { message: { status: 'succeeded', value: '' } }, /could not provide/],
  ['getAsFileAsync throws', { message: 'throws' }, /could not provide/],
  ['the network fails', { fetch: () => Promise.reject(new TypeError('Load failed')) }, /later/],
  ['the token is not valid', { fetch: answering(401) }, /valid token/],
  ['the message is refused', { fetch: answering(422) }, /refused/],
  ['the message is too large', { fetch: answering(413) }, /refused/],
  ['the service is away', { fetch: answering(503) }, /later/],
  ['another site answers', { fetch: answering(200, {}) }, /later/],
])('if %s, the event completes once and the message stays', async ([, given, words]) => {
  const { completions, expire } = await runScript(given)
  expire()
  expect(completions).toHaveLength(1)
  expect(completions[0]).toMatchObject({
    moveItemTo: 'stay',
    onErrorDeleteItem: false,
    showPostProcessingDialog: { title: 'Signalpost', description: expect.stringMatching(words) },
  })
})

test.for<[string, Given]>([
  ['Outlook', { message: 'silent' }],
  ['the service', { fetch: () => new Promise(() => undefined) }],
])('if %s does not answer, the event completes when the time is up', async ([, given]) => {
  const { completions, expire } = await runScript(given)
  expect(completions).toEqual([])
  expire()
  expire()
  expect(completions).toMatchObject([{ moveItemTo: 'stay', onErrorDeleteItem: false }])
})

test('an answer after the time is up completes nothing again', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const { completions, expire } = await runScript({ fetch: () => promise })
  expire()
  resolve({ status: 202, json: async () => ({ id }) })
  await nextTurn()
  expect(completions).toHaveLength(1)
})

test.for([
  ['fr-CA', /^Merci/],
  ['ru-RU', /^Спасибо/],
  ['pl-PL', /^Thank you/],
] as const)('Outlook in the language %s shows %s', async ([language, words]) => {
  const { completions } = await runScript({ language })
  const description: unknown = expect.stringMatching(words)
  expect(completions).toMatchObject([{ showPostProcessingDialog: { description } }])
})
