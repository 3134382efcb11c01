import { addAccount } from '../../../src/processes/add-account.ts'
import type { Newsletters } from './newsletters.ts'

let made = 0

/** Stores reports of newsletters of a domain, one report by each of the given number of people. */
export async function keepReports(
  letters: Newsletters,
  people: number,
  domain: string,
): Promise<void> {
  for (let at = 0; at < people; at++) {
    const email = `reader${++made}@reporters.example`
    const account = { email, password: undefined, role: null, wantsToken: false }
    const { id } = await addAccount(account, letters.app)
    await letters.report({ mark: `seen-${made}`, domain }, { reporterId: id })
  }
}
