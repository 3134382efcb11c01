import { z } from 'zod'
import { deskPageSchema } from './desk-schemas.ts'
import { json, type Operations } from './operation.ts'

const shared = { chapter: 'Abuse desks', need: 'desk' } as const

/** The operations with which abuse desks read and answer their reports. */
export const deskOperations = {
  'list-desk-reports': {
    ...shared,
    method: 'get',
    path: '/api/v1/desk/reports',
    summary: 'List the feedback reports that we sent to you',
    description: 'The newest first. A digest is one report.',
    parameters: { query: deskPageSchema },
    answers: json('DeskReports', 'A page of reports.', { headers: ['Link'] }),
    example: { query: '?open=true&limit=10' },
  },
  'read-desk-report': {
    ...shared,
    method: 'get',
    path: '/api/v1/desk/reports/{number}',
    summary: 'Get the mail of a feedback report',
    description: 'As we sent it, with the redacted message.',
    parameters: { path: z.object({ number: z.string() }) },
    answers: {
      200: { description: 'The mail.', content: { 'message/rfc822': 'bytes' } },
    },
    problems: ['not-found'],
  },
  'count-desk-complaints': {
    ...shared,
    method: 'get',
    path: '/api/v1/desk/complaints',
    summary: 'Count the complaints that you were notified of',
    description:
      'By day, range and address. Numbers that could reveal a reporter are left out, and so are ' +
      'the last days, which may still change.',
    answers: json('DeskComplaints', 'The counts.'),
    example: {},
  },
  'answer-desk-reports': {
    ...shared,
    method: 'post',
    path: '/api/v1/desk/answers',
    summary: 'Answer many feedback reports at once',
    description: 'An answer to a digest applies to all reports in it.',
    body: { 'application/json': 'DeskAnswer' },
    bodyBytesMax: 20_000,
    answers: json('DeskOutcomes', 'The outcome for each report.'),
    example: {
      body: {
        reports: ['01999999-0000-7000-8000-000000000000.1'],
        answer: 'resolved',
        said: 'The customer was warned.',
      },
    },
  },
} as const satisfies Operations
