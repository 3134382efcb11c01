import { z } from 'zod'
import { ModelFault } from './model.ts'

/**
 * What is read of a model that CatBoost wrote as JSON (`save_model(…, format='json')`, see its
 * `catboost/libs/model/model_export/json_model_helpers.cpp`).
 */
export type CatBoostFile = z.infer<typeof file>

/** The question of a node: is the value of this float feature above the border? */
export type CatBoostSplit = z.infer<typeof split>

const FEATURES_MAX = 5_000
const TREES_MAX = 20_000
const BYTES_MAX = 64_000_000

const split = z.object({
  split_type: z.literal('FloatFeature').default('FloatFeature'),
  float_feature_index: z.int().min(0).max(FEATURES_MAX),
  border: z.number(),
})

const kindless = { error: 'holds what can not be applied here' }

const file = z.object({
  model_info: z
    .object({
      params: z.object({ loss_function: z.object({ type: z.string() }).optional() }).optional(),
      class_params: z.object({ class_names: z.array(z.unknown()).optional() }).nullish(),
    })
    .optional(),
  features_info: z.object({
    float_features: z
      .array(z.object({ feature_index: z.int().min(0), feature_id: z.string().default('') }))
      .max(FEATURES_MAX),
    categorical_features: z.array(z.unknown()).max(0, kindless).nullish(),
    text_features: z.array(z.unknown()).max(0, kindless).nullish(),
    embedding_features: z.array(z.unknown()).max(0, kindless).nullish(),
    ctrs: z.array(z.unknown()).max(0, kindless).nullish(),
  }),
  oblivious_trees: z
    .array(z.object({ leaf_values: z.array(z.number()), splits: z.array(split).nullable() }))
    .max(TREES_MAX)
    .optional(),
  /** Their nodes are read one by one: they may be nested as deep as somebody likes. */
  trees: z.array(z.unknown()).max(TREES_MAX).optional(),
  scale_and_bias: z
    .tuple([z.number(), z.union([z.number(), z.array(z.number()).max(1), z.null()])])
    .default([1, 0]),
})

const leaf = z.object({ value: z.number() })
const inner = z.object({ split, left: z.unknown(), right: z.unknown() })

/**
 * Reads the file.
 *
 * @throws ModelFault when it is none, or holds features that are not numbers
 */
export function readCatBoostFile(bytes: Uint8Array): CatBoostFile {
  if (bytes.length > BYTES_MAX) {
    throw new ModelFault(`The model has more than ${BYTES_MAX / 1e6} MB.`)
  }
  let json: unknown
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new ModelFault('The model is no JSON.', { cause })
  }
  const read = file.safeParse(json)
  if (read.success) return read.data
  throw new ModelFault(faultOf(read.error), { cause: read.error })
}

/**
 * One node of a tree whose levels do not ask the same: a leaf's value, or a question and two more.
 *
 * @throws ModelFault when it is neither
 */
export function readCatBoostNode(node: unknown): z.infer<typeof leaf> | z.infer<typeof inner> {
  const asLeaf = leaf.safeParse(node)
  if (asLeaf.success) return asLeaf.data
  const asInner = inner.safeParse(node)
  if (asInner.success) return asInner.data
  throw new ModelFault(
    `A node of a tree is neither a leaf nor a question: ${faultOf(asInner.error)}`,
  )
}

function faultOf({ issues }: z.ZodError): string {
  const issue = issues[0]
  const where = issue?.path.join('.') ?? ''
  if (/categorical_features|ctrs|text_features|embedding_features/.test(where)) {
    const kind = where.split('.').at(-1) ?? ''
    return `The model looks at ${kind}; only float features can be applied. Train it without.`
  }
  if (where.endsWith('split_type')) {
    return `The model asks one-hot or ctr questions (${where}); only float features can be applied.`
  }
  const why = issue?.message ?? 'it cannot be read'
  return `The model is not as CatBoost writes it: ${where}: ${why}`
}
