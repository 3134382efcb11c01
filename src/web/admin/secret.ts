import { codeOf, type Dependence, readSecretState } from '../../people/secret-state.ts'
import type { Texts } from '../../texts/messages.ts'
import type { Site } from '../site.ts'
import { adminPage } from './page.ts'

/** What depends on the secret of the installation. It is changed by a command only. */
export function secretRoutes(site: Site) {
  return adminPage(site, {
    view: 'admin/secret',
    title: 'secret.title',
    async data({ texts }) {
      const state = await readSecretState(site)
      const rows = state.dependences.map((one) => ({
        use: texts(`secret.uses.${codeOf(one)}`),
        need: needOf(one, texts),
        loss: texts(`secret.losses.${codeOf(one)}`),
        lastUsedAt: one.lastUsedAt,
      }))
      return { ...state, rows }
    },
  })
}

function needOf({ need, until, count }: Dependence, texts: Texts): string {
  if (until) return texts('secret.until', { at: until })
  const word = texts(`secret.needs.${need}`)
  return count ? `${word} (${texts('secret.count', { count })})` : word
}
