import type { Operation } from './operation.ts'
import { accountOperations } from './operations/account-operations.ts'
import { knowledgeOperations } from './operations/knowledge-operations.ts'
import { reportOperations } from './operations/report-operations.ts'

/** Everything that programs can ask of us. A test holds it against what is served. */
export const operations: readonly Operation[] = [
  ...reportOperations,
  ...accountOperations,
  ...knowledgeOperations,
]
