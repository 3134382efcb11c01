import { CallerError } from '../errors.ts'
import { verifyAudit } from '../people/audit-seals.ts'
import { defineQuery, type Operations } from './command.ts'

const verify = defineQuery({
  name: 'audit verify',
  summary: 'check that no entry of the audit log was removed or changed; exits with 1 otherwise',
  async print(_, app) {
    const { seals, entries, since, until, last, faults } = await verifyAudit(app)
    if (faults.length > 0) throw new CallerError(409, faults.join('\n'))
    if (!since || !until || !last) return 'The audit log has no seal yet. One is made each hour.'
    return [
      `The audit log is intact since ${since.toISOString()}.`,
      `${seals} seals of ${entries} entries until ${until.toISOString()}.`,
      `Last seal: ${last.number} ${last.seal}`,
    ].join('\n')
  },
})

export const operations: Operations = [verify]
