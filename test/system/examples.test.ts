import { expect, test } from 'vitest'
import { composeExamples } from '../../src/web/docs/docs-routes.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { askForAll, mayChange, startExampleSite } from '../support/contract/example-site.ts'
import { runProgram, saidIn } from '../support/contract/run-example.ts'

const shown = await closeAfterTests(startExampleSite())
const { folder } = shown

test('the Python example of every operation runs unchanged', async () => {
  const person = await shown.addPerson()
  const isAllowed = await mayChange(shown.site, person)
  await askForAll(shown.site.url, shown.desk, async (operation, values) => {
    if (operation.need === 'account' && !isAllowed) return { status: 403, text: '' }
    const { python } = composeExamples(operation, values)
    const out = await runProgram(['python3', '-c', python], { folder, person, ...shown.desk })
    const said = saidIn(out)
    const isKnown = String(said.status) in operation.answers
    expect([operation.id, isKnown, said.text]).toEqual([operation.id, true, said.text])
    return said
  })
})
