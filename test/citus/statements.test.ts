import pg from 'pg'
import { expect, test } from 'vitest'
import { reasonOf, sqlState } from '../../src/errors.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { freshDatabase } from '../support/database.ts'
import { type Shape, type Statement, unpackValue } from '../support/logged-statements.ts'
import { collectStatements } from './collect-statements.ts'

const database = await closeAfterTests(freshDatabase())
const shapes = await collectStatements()
const statements = shapes.flatMap((shape) => (shape.length === 1 ? shape : []))
const transactions = shapes.filter((shape) => shape.length > 1)

/**
 * SQLSTATE classes of errors that depend on rows, which the cluster lacks here: data exception,
 * integrity constraint violation, object not in prerequisite state, operator intervention; and a
 * missing table, which the test made itself.
 */
const aboutRows = /^(22|23|55|57|42P01$)/

test('there are statements to check', () => {
  expect(statements.length).toBeGreaterThan(1_000)
  expect(transactions.length).toBeGreaterThan(500)
})

test('a cluster plans every statement of the other database tests', async () => {
  const refused = await refusals(statements, async (client, { text, values }) => {
    await client.query(`explain ${text}`, values.map(unpackValue))
  })
  expect(refused).toEqual([])
})

test('a cluster runs every transaction of the other database tests', async () => {
  expect(await refusals(transactions, replay)).toEqual([])
})

/** Runs the statements of a transaction, up to the first that needs rows, and rolls back. */
async function replay(client: pg.Client, shape: Shape): Promise<void> {
  await client.query('begin')
  try {
    for (const { text, values } of shape) {
      await client.query(text, values.map(unpackValue)).catch((error: unknown) => {
        throw isAboutRows(error) ? error : new Error(`${reasonOf(error)}, after ${text}`)
      })
    }
  } finally {
    await client.query('rollback')
  }
}

function isAboutRows(error: unknown): boolean {
  return aboutRows.test(sqlState(error) ?? '')
}

/** Returns the errors of some work, each with the statements for which it was done. */
async function refusals<T extends Shape | Statement>(
  all: readonly T[],
  work: (client: pg.Client, one: T) => Promise<void>,
): Promise<string[]> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query(`set statement_timeout = '20s'`)
  const refused: string[] = []
  for (const one of all) {
    await work(client, one).catch((error: unknown) => {
      if (!isAboutRows(error)) refused.push(`${reasonOf(error)}: ${describe(one)}`)
    })
  }
  await client.end()
  return refused.toSorted()
}

function describe(one: Shape | Statement): string {
  return 'text' in one ? one.text : one.map(({ text }) => text).join(';\n')
}
