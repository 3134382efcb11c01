import { expect, test } from 'vitest'
import { isOutage } from '../../src/db/follow.ts'
import { reasonOf, sqlState, UsageError } from '../../src/errors.ts'

const withCode = (code: unknown, message = 'it failed') =>
  Object.assign(new Error(message), { code })

test.for([
  ['23505', '23505'],
  ['XX000', 'XX000'],
  ['57P01', '57P01'],
  ['EPIPE', undefined],
  ['ECONNRESET', undefined],
  ['2350', undefined],
  [23505, undefined],
  [undefined, undefined],
] as const)('the SQLSTATE of an error with the code %j is %j', ([code, state]) => {
  expect(sqlState(withCode(code))).toBe(state)
})

test.for([
  ['the server shuts down', withCode('57P01'), true],
  ['the server starts up', withCode('57P03'), true],
  ['too many connections', withCode('53300'), true],
  ['the connection broke', withCode('08006'), true],
  ['only a standby answers', withCode('25006'), true],
  [
    'a node was lost during a commit',
    withCode('XX000', 'could not commit transaction for shard 102 on at least one active node'),
    true,
  ],
  ['a node closed its connection', withCode('XX000', 'server closed the connection'), true],
  ['the server has an internal fault', withCode('XX000', 'unrecognized node type: 7'), false],
  ['the socket broke while writing', withCode('EPIPE'), true],
  ['nobody listens', withCode('ECONNREFUSED'), true],
  ['every address refused', new AggregateError([withCode('ECONNREFUSED')], 'all'), true],
  ['pg lost the connection', new Error('Connection terminated unexpectedly'), true],
  [
    'pg had lost the connection before',
    new Error('Client has encountered a connection error and is not queryable'),
    true,
  ],
  ['the row is there already', withCode('23505'), false],
  ['two writers blocked each other', withCode('40P01'), false],
  ['the statement was canceled', withCode('57014'), false],
  ['a bug of ours', new TypeError('x is undefined'), false],
  ['something that is no error', 'ECONNREFUSED', false],
] as const)('whether an error is an outage: %s', ([, error, expected]) => {
  expect(isOutage(error)).toBe(expected)
})

test('a reason is a text without a stack trace, whatever was thrown', () => {
  expect(reasonOf(new Error('no room'))).toBe('no room')
  expect(reasonOf(new RangeError())).toBe('RangeError')
  expect(reasonOf('just text')).toBe('just text')
  expect(reasonOf(undefined)).toBe('undefined')
  expect(reasonOf(new UsageError(['a', 'b']))).toBe('a\nb')
})
