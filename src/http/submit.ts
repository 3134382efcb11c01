import type { Reporter } from '../db/reporters.ts'
import type { Channel, ReportKind } from '../db/reports.ts'
import type { Intake } from '../intake/accept-report.ts'
import type { Became } from '../intake/keep-reports.ts'
import type { RebuiltFrom } from '../mail/containers/unpack-file.ts'
import type { BodyPool } from './bodies/body-pool.ts'
import type { IntakeMetrics } from './metrics.ts'
import { ProblemError } from './problem.ts'

/** What a reporter says about the messages of one request. */
export type Remarks = {
  kind: ReportKind
  comment: string | null
  /** CIDR blocks, their host bits cleared. */
  receivedVia: readonly string[]
  /** Where the message had to be put together anew of what it was given as. */
  rebuiltFrom?: RebuiltFrom
}

/** How one message of a request fared. */
export type Outcome = ({ taken: true } & Became) | { taken: false; refusal: ProblemError }

/** Hands messages to intake. */
export type Submit = (
  reporter: Reporter,
  channel: Channel,
  raw: Buffer,
  remarks: Remarks,
  /** What `admit` said; who is shadowed notices nothing. */
  admission?: 'admitted' | 'shadowed',
) => Promise<Outcome>

const countedAs = { new: 'accepted', changed: 'changed', repeated: 'repeat' } as const

/** Intake with its limits before it and its count after it. Throws when nothing can be stored. */
export function createSubmit(app: {
  intake: Intake
  bodies: BodyPool
  metrics: IntakeMetrics
}): Submit {
  return async (reporter, channel, raw, remarks, admission = 'admitted') => {
    const fit = await app.bodies.read('message', raw, { ownerId: reporter.id })
    if ('refusal' in fit) {
      app.metrics.count(channel, 'refused')
      const { reason, detail } = fit.refusal
      return { taken: false, refusal: new ProblemError(reason, detail) }
    }
    const became = await app.intake.accept({
      reporterId: reporter.id,
      channel,
      message: fit.message,
      isShadowed: admission === 'shadowed',
      ...remarks,
    })
    app.metrics.count(channel, countedAs[became.is])
    return { taken: true, ...became }
  }
}
