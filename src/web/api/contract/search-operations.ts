import { z } from 'zod'
import { json, type Operations } from './operation.ts'
import { searchPageSchema } from './search-schemas.ts'

const path = z.object({ id: z.uuid() })
const shared = { chapter: 'Search and actions' } as const

export const searchOperations = {
  'search-reports': {
    ...shared,
    method: 'get',
    path: '/api/v1/search',
    summary: 'Search the reports of all reporters',
    description: 'The newest first, in the syntax of the page of reports.',
    need: 'viewer',
    parameters: { query: searchPageSchema },
    answers: json('FoundReports', 'A page of reports.', { headers: ['Link'] }),
    example: { query: '?q=kind:spam&limit=10' },
  },
  'list-mass-actions': {
    ...shared,
    method: 'get',
    path: '/api/v1/mass-actions',
    summary: 'List the latest actions on many reports',
    need: 'viewer',
    answers: json('MassActions', 'The latest 50.'),
  },
  'preview-mass-action': {
    ...shared,
    method: 'post',
    path: '/api/v1/mass-actions/preview',
    summary: 'See what an action would do, and with how many reports',
    need: 'viewer',
    body: { 'application/json': 'MassChoice' },
    bodyBytesMax: 40_000,
    answers: json('MassPreview', 'Nothing was done.'),
    example: { body: { action: 'exempt-origin', search: 'kind:spam' } },
  },
  'start-mass-action': {
    ...shared,
    method: 'post',
    path: '/api/v1/mass-actions',
    summary: 'Act on many reports',
    description:
      'On those with some ids, or on all that a search finds now. The action runs as a job; ' +
      'follow it at the URL in Location.',
    need: 'operator',
    body: { 'application/json': 'NewMassAction' },
    bodyBytesMax: 40_000,
    answers: json('MassAction', 'Started.', { status: 202, headers: ['Location'] }),
    example: {
      body: { action: 'exempt-origin', search: 'kind:spam', reason: 'Our own newsletter.' },
    },
  },
  'read-mass-action': {
    ...shared,
    method: 'get',
    path: '/api/v1/mass-actions/{id}',
    summary: 'Follow an action on many reports',
    need: 'viewer',
    parameters: { path },
    answers: json('MassAction', 'The action and its progress.'),
  },
  'stop-mass-action': {
    ...shared,
    method: 'post',
    path: '/api/v1/mass-actions/{id}/stop',
    summary: 'End an action early',
    description: 'What it changed so far stays. An action that has ended stays as it is.',
    need: 'operator',
    parameters: { path },
    answers: json('MassAction', 'The action has ended.'),
  },
  'undo-mass-action': {
    ...shared,
    method: 'post',
    path: '/api/v1/mass-actions/{id}/undo',
    summary: 'Undo an action, within an hour',
    need: 'operator',
    parameters: { path },
    answers: json('MassAction', 'The action is being undone.', { status: 202 }),
    problems: ['bad-field'],
  },
} as const satisfies Operations
