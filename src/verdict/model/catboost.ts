import { z } from 'zod'
import { featureReader } from './features.ts'
import {
  type KeptModel,
  logistic,
  type Model,
  ModelFault,
  restrain,
  sumOfLeaves,
  TreeBuilder,
  type Trees,
} from './model.ts'

/**
 * The fields that are read from a CatBoost model saved as JSON (`save_model(…, format='json')`; see
 * `catboost/libs/model/model_export/json_model_helpers.cpp` in CatBoost).
 */
type CatBoostFile = z.infer<typeof file>

/** The condition of a node: whether the value of this float feature is above the border. */
type CatBoostSplit = z.infer<typeof split>

const FEATURES_MAX = 5_000
const TREES_MAX = 20_000
const BYTES_MAX = 64_000_000

const split = z.object({
  split_type: z.literal('FloatFeature').default('FloatFeature'),
  float_feature_index: z.int().min(0).max(FEATURES_MAX),
  border: z.number(),
})

const kindless = { error: 'contains data that is not supported' }

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
  /** The nodes are parsed one by one, because they may be nested to any depth. */
  trees: z.array(z.unknown()).max(TREES_MAX).optional(),
  scale_and_bias: z
    .tuple([z.number(), z.union([z.number(), z.array(z.number()).max(1), z.null()])])
    .default([1, 0]),
})

const leaf = z.object({ value: z.number() })
const inner = z.object({ split, left: z.unknown(), right: z.unknown() })

/**
 * Parses the bytes of a CatBoost model saved as JSON.
 *
 * @throws ModelFault when it is not a CatBoost model, or uses features that are not numeric
 */
function readCatBoostFile(bytes: Uint8Array): CatBoostFile {
  if (bytes.length > BYTES_MAX) {
    throw new ModelFault(`The model is larger than ${BYTES_MAX / 1e6} MB.`)
  }
  let json: unknown
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new ModelFault('The model file is not valid JSON.', { cause })
  }
  const read = file.safeParse(json)
  if (read.success) return read.data
  throw new ModelFault(faultOf(read.error), { cause: read.error })
}

/**
 * Parses one node of an asymmetric tree: a leaf value, or a condition with two children.
 *
 * @throws ModelFault when the node is neither
 */
function readCatBoostNode(node: unknown): z.infer<typeof leaf> | z.infer<typeof inner> {
  const asLeaf = leaf.safeParse(node)
  if (asLeaf.success) return asLeaf.data
  const asInner = inner.safeParse(node)
  if (asInner.success) return asInner.data
  throw new ModelFault(
    `A node of a tree is neither a leaf nor a condition: ${faultOf(asInner.error)}`,
  )
}

function faultOf({ issues }: z.ZodError): string {
  const issue = issues[0]
  const where = issue?.path.join('.') ?? ''
  if (/categorical_features|ctrs|text_features|embedding_features/.test(where)) {
    const kind = where.split('.').at(-1) ?? ''
    return `The model uses ${kind}. Only float features are supported. Train it without them.`
  }
  if (where.endsWith('split_type')) {
    return `The model uses one-hot or CTR splits (${where}). Only float features are supported.`
  }
  const why = issue?.message ?? 'it cannot be read'
  return `This is not a CatBoost model in JSON format: ${where}: ${why}`
}

const LEVELS_MAX = 16
const DEPTH_MAX = 64
/** Maximum number of nodes and leaves; each takes 20 bytes. */
const SIZE_MAX = 4_000_000

/**
 * Loads a model that CatBoost trained and saved as JSON, and evaluates its trees with our own code:
 * symmetric trees, or those of the policies `Depthwise` and `Lossguide`. Features must have the
 * names in `features.ts`; the classes are 0 and 1, or `wanted` and `unwanted`.
 *
 * @throws ModelFault when the model cannot be applied
 */
export function loadCatBoost({ version, content, calibration }: Omit<KeptModel, 'format'>): Model {
  const file = readCatBoostFile(content)
  const features = namesOf(file)
  const read = featureReader(features)
  if (!read) {
    throw new ModelFault(
      'The names of the features must be group.name, group.name=value or symbol.NAME. Train ' +
        'with the column names of "signalpost train --rows".',
    )
  }
  const trees = treesOf(file, features.length)
  const { scale, bias, sign } = outcomeOf(file)
  return {
    version,
    features,
    readsText: false,
    apply(facts, symbols) {
      const logOdds = sign * (scale * sumOfLeaves(trees, read(facts, symbols)) + bias)
      const calibrated = calibration.slope * logOdds + calibration.intercept
      const probability = logistic(restrain(calibrated))
      return { probability, isSure: false, isPhishing: false }
    },
  }
}

function namesOf({ features_info }: CatBoostFile): string[] {
  const names: string[] = []
  for (const { feature_index, feature_id } of features_info.float_features) {
    if (
      feature_index >= features_info.float_features.length ||
      names[feature_index] !== undefined
    ) {
      throw new ModelFault('The float features must be numbered from 0, each number once.')
    }
    names[feature_index] = feature_id
  }
  return names
}

/**
 * Returns how to convert the sum of the leaves to the log odds of `unwanted`. CatBoost predicts the
 * class whose name sorts last, so `sign` is -1 for the classes `unwanted` and `wanted`.
 */
function outcomeOf({ model_info, scale_and_bias }: CatBoostFile) {
  const loss = model_info?.params?.loss_function?.type ?? 'Logloss'
  if (loss !== 'Logloss' && loss !== 'CrossEntropy') {
    throw new ModelFault(`The model was trained with ${loss}, which gives no probability.`)
  }
  const [scale, given] = scale_and_bias
  const bias = Array.isArray(given) ? (given[0] ?? 0) : (given ?? 0)
  const classes = model_info?.class_params?.class_names?.map(String).join(' ') ?? '0 1'
  if (classes === 'unwanted wanted') return { scale, bias, sign: -1 }
  if (!['0 1', '0.0 1.0', 'false true', 'False True'].includes(classes)) {
    throw new ModelFault('The classes must be 0 and 1, or wanted and unwanted.')
  }
  return { scale, bias, sign: 1 }
}

function treesOf({ oblivious_trees, trees }: CatBoostFile, featureCount: number): Trees {
  const builder = new TreeBuilder()
  if ((oblivious_trees ?? trees) === undefined) throw new ModelFault('The model has no trees.')
  for (const { leaf_values, splits } of oblivious_trees ?? []) {
    builder.addRoot(addLevels(builder, splits ?? [], leaf_values, featureCount))
  }
  for (const tree of oblivious_trees ? [] : (trees ?? [])) {
    builder.addRoot(addBranches(builder, tree, featureCount))
  }
  return builder.build()
}

/**
 * Adds a symmetric tree. Each condition sets one bit of the leaf index, the first one the lowest.
 */
function addLevels(
  builder: TreeBuilder,
  splits: readonly CatBoostSplit[],
  leaves: readonly number[],
  featureCount: number,
): number {
  if (splits.length > LEVELS_MAX) throw new ModelFault(`A tree has more than ${LEVELS_MAX} levels.`)
  if (leaves.length !== 2 ** splits.length) {
    throw new ModelFault(
      'A tree must have one value per leaf. Models with several classes are not supported.',
    )
  }
  const add = (level: number, number: number): number => {
    const split = splits[level]
    if (!split) return builder.addLeaf(leaves[number] ?? 0)
    const node = addQuestion(builder, split, featureCount)
    builder.setChild(node, 'left', add(level + 1, number))
    builder.setChild(node, 'right', add(level + 1, number + 2 ** level))
    return node
  }
  return add(0, 0)
}

function addBranches(builder: TreeBuilder, tree: unknown, featureCount: number, depth = 0): number {
  if (depth > DEPTH_MAX) throw new ModelFault(`A tree has more than ${DEPTH_MAX} levels.`)
  const node = readCatBoostNode(tree)
  if ('value' in node) return builder.addLeaf(node.value)
  const at = addQuestion(builder, node.split, featureCount)
  builder.setChild(at, 'left', addBranches(builder, node.left, featureCount, depth + 1))
  builder.setChild(at, 'right', addBranches(builder, node.right, featureCount, depth + 1))
  return at
}

function addQuestion(
  builder: TreeBuilder,
  { float_feature_index, border }: CatBoostSplit,
  featureCount: number,
): number {
  if (float_feature_index >= featureCount)
    throw new ModelFault('A tree refers to a feature that does not exist.')
  if (builder.size > SIZE_MAX) throw new ModelFault(`The trees have more than ${SIZE_MAX} nodes.`)
  return builder.addNode(float_feature_index, border)
}
