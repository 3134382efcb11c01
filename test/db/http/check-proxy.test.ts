import { expect, test } from 'vitest'
import { checkedMail } from '../../support/checked-mail.ts'
import { startWebSite } from './web-site.ts'

test('where people reach the web by a name, nobody asks it without a password', async () => {
  const site = await startWebSite({ PUBLIC_URL: 'https://signalpost.example', WORKERS: '1' })
  try {
    const body = checkedMail('one', 'https://good.example/')
    for (const path of ['/checkv2', '/learnspam', '/learnham']) {
      const answer = await fetch(`${site.url}${path}`, { method: 'POST', body })
      expect([answer.status, await answer.json()]).toEqual([
        403,
        { error: expect.stringContaining('CHECK_PASSWORD') as string },
      ])
    }
  } finally {
    await site.close()
  }
})
