import { plainHost, plainLinks } from '../../pieces/disguise/plain-link.ts'
import type { ListedPage } from '../lists/list.ts'
import type { Subject } from '../reputation/subject.ts'
import { bool, type FactTable } from './fact.ts'

type PageFacts = { has_phishing: boolean; has_malware: boolean }

/** Listed pages to which the links of a message lead. */
export const pagesTable: FactTable<PageFacts> = {
  has_phishing: bool('A link leads to a confirmed phishing page.'),
  has_malware: bool('A link leads to a confirmed page that spreads malware.'),
}

/** Listed pages by the subjects of the messages that link to them. */
export class ListedLinks {
  readonly #hosts = new Map<string, ListedPage['type']>()
  readonly #links = new Map<string, ListedPage['type']>()

  add({ url, host, scope, type }: Pick<ListedPage, 'url' | 'host' | 'scope' | 'type'>): void {
    const name = plainHost(host)
    if (scope === 'host') this.#hosts.set(name, type)
    else {
      const link = plainLinks(url).find((one) => one.host === name)
      if (link) this.#links.set(link.full, type)
    }
  }

  get size(): number {
    return this.#hosts.size + this.#links.size
  }

  /** Returns the facts about the links among the subjects; undefined if none is listed. */
  factsOf(subjects: readonly Subject[]): PageFacts | undefined {
    let [hasPhishing, hasMalware] = [false, false]
    for (const { kind, name } of subjects) {
      const listed = kind === 'link-host' ? this.#hosts : kind === 'link' ? this.#links : undefined
      const type = listed?.get(name)
      if (type === 'phishing') hasPhishing = true
      if (type === 'malware') hasMalware = true
    }
    if (!hasPhishing && !hasMalware) return undefined
    return { has_phishing: hasPhishing, has_malware: hasMalware }
  }
}
