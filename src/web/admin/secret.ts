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
        need: needOf(one, texts, state.change !== null),
        loss: texts(`secret.losses.${codeOf(one)}`),
        lastUsedAt: one.lastUsedAt,
      }))
      const isEnded = state.secrets.some(({ endedAt }) => endedAt !== null)
      return { ...state, rows, isEnded }
    },
  })
}

function needOf({ fate, until, count }: Dependence, texts: Texts, isChanged: boolean): string {
  if (!isChanged) return texts(`secret.fates.${fate}`)
  if (until) return texts('secret.until', { at: until })
  if (fate === 'fades' || count === 0) return texts('secret.over')
  const need = texts(`secret.fates.${fate}`)
  return count === null ? need : `${need} (${texts('secret.count', { count })})`
}
