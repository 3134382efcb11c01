import type { Request } from './background.ts'
import type { Queue } from './queue.ts'
import { pageOf, parseServer, testAccess, tokenPageOf } from './service.ts'
import type { Settings } from './settings.ts'
import { readSettings, writeSettings } from './stored-settings.ts'
import { fieldOf, formOf, translatePage } from './translate.ts'

const say = messenger.i18n.getMessage
const form = formOf()
const part = (id: string) => document.getElementById(id)
const ask = (request: Request) => messenger.runtime.sendMessage(request)

translatePage()
await showSettings()
await showReports()

async function showSettings(): Promise<void> {
  const { settings, managed } = await readSettings()
  for (const [name, value] of Object.entries(settings)) {
    const field = fieldOf(form, name)
    if (typeof value === 'boolean') field.checked = value
    else field.value = value
    field.disabled = managed.includes(name)
  }
  part('managed')?.toggleAttribute('hidden', managed.length === 0)
}

function givenSettings(server: string): Settings {
  return {
    server,
    token: fieldOf(form, 'token').value.trim(),
    movesToJunk: fieldOf(form, 'movesToJunk').checked,
    reportsJunk: fieldOf(form, 'reportsJunk').checked,
  }
}

async function showReports(): Promise<void> {
  const { waiting, sent } = (await ask({ do: 'list' })) as Awaited<ReturnType<Queue['list']>>
  const { settings } = await readSettings()
  part('waiting')?.replaceChildren(say('waitingNumber', String(waiting)))
  part('send')?.toggleAttribute('hidden', waiting === 0)
  const items = sent.slice(0, 20).map(({ id, at, subject }) => {
    const link = document.createElement('a')
    link.href = pageOf(settings.server, id)
    link.textContent = subject || id
    const item = document.createElement('li')
    item.append(`${new Date(at).toLocaleString(messenger.i18n.getUILanguage())} · `, link)
    return item
  })
  part('sent')?.replaceChildren(...items)
}

function tell(text: string, isGood: boolean): void {
  const said = part('said')
  said?.replaceChildren(text)
  said?.setAttribute('class', isGood ? 'good' : 'bad')
}

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const server = parseServer(fieldOf(form, 'server').value)
  if (server === undefined) return tell(say('badServer'), false)
  await writeSettings(givenSettings(server))
  await showSettings()
  tell(say('testing'), true)
  const result = await testAccess((await readSettings()).settings)
  tell(say(`test_${result.replace('-', '_')}`), result === 'ok')
  if (result !== 'ok') return
  await ask({ do: 'send' })
  await showReports()
})

part('sign-in')?.addEventListener('click', async () => {
  const server = parseServer(fieldOf(form, 'server').value)
  if (server === undefined) return tell(say('badServer'), false)
  await messenger.windows.openDefaultBrowser(tokenPageOf(server))
})

part('send')?.addEventListener('click', async () => {
  await ask({ do: 'send' })
  await showReports()
})

part('sent')?.addEventListener('click', async (event) => {
  if (!(event.target instanceof HTMLAnchorElement)) return
  event.preventDefault()
  await messenger.windows.openDefaultBrowser(event.target.href)
})
