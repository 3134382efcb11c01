import { z } from 'zod'
import type { Operation } from './operation.ts'
import { searchPageSchema } from './search-schemas.ts'

const path = z.object({ id: z.uuid() })
const shared = { chapter: 'Search and actions' } as const
const action = { 'application/json': 'MassAction' } as const
const bodyProblems = [
  ...['bad-request', 'bad-field', 'not-allowed', 'too-big', 'wrong-type', 'too-often'],
] as const satisfies Operation['problems']

/** The operations with which operators search reports and act on many. */
export const searchOperations: readonly Operation[] = [
  {
    ...shared,
    id: 'search-reports',
    method: 'get',
    path: '/api/v1/search',
    summary: 'Search the reports of all reporters',
    description: 'The newest first, in the syntax of the page of reports.',
    need: 'viewer',
    parameters: { query: searchPageSchema },
    answers: {
      200: {
        description: 'A page of reports.',
        content: { 'application/json': 'FoundReports' },
        headers: ['Link'],
      },
    },
    problems: ['bad-field', 'not-allowed', 'too-often'],
    example: { query: '?q=kind:spam&limit=10' },
  },
  {
    ...shared,
    id: 'list-mass-actions',
    method: 'get',
    path: '/api/v1/mass-actions',
    summary: 'List the latest actions on many reports',
    need: 'viewer',
    answers: {
      200: { description: 'The latest 50.', content: { 'application/json': 'MassActions' } },
    },
    problems: ['not-allowed', 'too-often'],
    example: {},
  },
  {
    ...shared,
    id: 'preview-mass-action',
    method: 'post',
    path: '/api/v1/mass-actions/preview',
    summary: 'See what an action would do, and with how many reports',
    need: 'viewer',
    body: { 'application/json': 'MassChoice' },
    answers: {
      200: { description: 'Nothing was done.', content: { 'application/json': 'MassPreview' } },
    },
    problems: bodyProblems,
    example: { body: { action: 'exempt-origin', search: 'kind:spam' } },
  },
  {
    ...shared,
    id: 'start-mass-action',
    method: 'post',
    path: '/api/v1/mass-actions',
    summary: 'Act on many reports',
    description:
      'On those with some ids, or on all that a search finds now. The action runs as a job; ' +
      'follow it at the URL in Location.',
    need: 'operator',
    body: { 'application/json': 'NewMassAction' },
    answers: { 202: { description: 'Started.', content: action, headers: ['Location'] } },
    problems: bodyProblems,
    example: {
      body: { action: 'exempt-origin', search: 'kind:spam', reason: 'Our own newsletter.' },
    },
  },
  {
    ...shared,
    id: 'read-mass-action',
    method: 'get',
    path: '/api/v1/mass-actions/{id}',
    summary: 'Follow an action on many reports',
    need: 'viewer',
    parameters: { path },
    answers: { 200: { description: 'The action and its progress.', content: action } },
    problems: ['not-found', 'not-allowed', 'too-often'],
    example: {},
  },
  {
    ...shared,
    id: 'stop-mass-action',
    method: 'post',
    path: '/api/v1/mass-actions/{id}/stop',
    summary: 'End an action early',
    description: 'What it changed so far stays. An action that has ended stays as it is.',
    need: 'operator',
    parameters: { path },
    answers: { 200: { description: 'The action has ended.', content: action } },
    problems: ['not-found', 'not-allowed', 'too-often'],
    example: {},
  },
  {
    ...shared,
    id: 'undo-mass-action',
    method: 'post',
    path: '/api/v1/mass-actions/{id}/undo',
    summary: 'Undo an action, within an hour',
    need: 'operator',
    parameters: { path },
    answers: { 202: { description: 'The action is being undone.', content: action } },
    problems: ['not-found', 'bad-field', 'not-allowed', 'too-often'],
    example: {},
  },
]
