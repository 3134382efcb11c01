import { expect, test } from 'vitest'
import { loadModel } from '../../../../src/verdict/model/load-model.ts'
import { logistic, ModelFault, restrain } from '../../../../src/verdict/model/model.ts'

const identity = { slope: 1, intercept: 0 }

/** The probability of a model of which nobody knows whether it was trained on mail of the site. */
const bounded = (logOdds: number) => logistic(restrain(logOdds))

const question = (feature: number, border: number) => ({
  border,
  float_feature_index: feature,
  split_index: 0,
  split_type: 'FloatFeature',
})

const feature = (index: number, name: string, borders: number[]) => ({
  borders,
  feature_id: name,
  feature_index: index,
  flat_feature_index: index,
  has_nans: false,
  nan_value_treatment: 'AsIs',
})

/** A file as CatBoost writes it: two symmetric trees over three named features. */
const symmetric = {
  model_info: {
    catboost_version_info: 'CatBoost',
    params: { loss_function: { type: 'Logloss' } },
    class_params: { class_label_type: 'Integer', class_names: [0, 1] },
  },
  oblivious_trees: [
    {
      leaf_values: [-1, 0.5, 0.25, 2],
      leaf_weights: [1, 1, 1, 1],
      splits: [question(0, 2.5), question(1, 0.5)],
    },
    { leaf_values: [0.125, -0.75], leaf_weights: [1, 1], splits: [question(2, 0.5)] },
  ],
  features_info: {
    float_features: [
      feature(0, 'links.hosts', [2.5]),
      feature(1, 'text.forms', [0.5]),
      feature(2, 'symbol.FORGED_HOP', [0.5]),
    ],
  },
  ctr_data: null,
  scale_and_bias: [2, [0.1]],
}

const bytesOf = (file: unknown) => new TextEncoder().encode(JSON.stringify(file))

function load(file: unknown, calibration = identity) {
  const kept = { version: 7, format: 'catboost', content: bytesOf(file), calibration } as const
  const { apply } = loadModel(kept)
  return {
    apply: (...given: Parameters<typeof apply>) => apply(...given).probability,
  }
}

const facts = (hosts: number, forms: boolean) => ({ links: { hosts }, text: { forms } })
const forged = [{ name: 'FORGED_HOP' }]

test.for([
  ['both answers no', 1, false, [], -1 + 0.125],
  ['the first question is the lowest bit', 3, false, [], 0.5 + 0.125],
  ['the second question is the second bit', 1, true, [], 0.25 + 0.125],
  ['both answers yes', 3, true, [], 2 + 0.125],
  ['a value at the border is not above it', 2.5, true, [], 0.25 + 0.125],
  ['a symbol that was raised is 1', 3, true, forged, 2 - 0.75],
  ['one that the model does not know changes nothing', 3, true, [{ name: 'OTHER' }], 2 + 0.125],
] as const)('%s', ([, hosts, forms, symbols, sum]) => {
  const model = load(symmetric)
  expect(model.apply(facts(hosts, forms), symbols)).toBeCloseTo(bounded(2 * sum + 0.1), 12)
})

test('a feature that the message lacks is 0', () => {
  expect(load(symmetric).apply({}, [])).toBeCloseTo(bounded(2 * -0.875 + 0.1), 12)
})

test('a model keeps no state between messages', () => {
  const model = load(symmetric)
  const before = model.apply(facts(1, false), [])
  model.apply(facts(3, true), forged)
  expect(model.apply(facts(1, false), [])).toBe(before)
})

test('values are compared in single precision, as in CatBoost', () => {
  const border = Math.fround(0.1)
  const tree = { leaf_values: [-3, 3], splits: [question(0, border)] }
  const model = load({ ...symmetric, oblivious_trees: [tree], scale_and_bias: [1, [0]] })
  expect(model.apply({ links: { hosts: 0.1 } }, [])).toBeCloseTo(bounded(-3), 12)
  expect(model.apply({ links: { hosts: 0.10001 } }, [])).toBeCloseTo(bounded(3), 12)
})

test('trees with different questions per branch are evaluated too', () => {
  const tree = {
    split: question(0, 2.5),
    left: { value: -2, weight: 5 },
    right: { split: question(1, 0.5), left: { value: 1, weight: 1 }, right: { value: 4 } },
  }
  const model = load({
    ...symmetric,
    oblivious_trees: undefined,
    trees: [tree],
    scale_and_bias: [1, [0]],
  })
  expect(model.apply(facts(1, true), [])).toBeCloseTo(bounded(-2), 12)
  expect(model.apply(facts(3, false), [])).toBeCloseTo(bounded(1), 12)
  expect(model.apply(facts(3, true), [])).toBeCloseTo(bounded(4), 12)
})

test('with the classes unwanted and wanted, CatBoost predicts wanted', () => {
  const class_params = { class_names: ['unwanted', 'wanted'] }
  const model = load({ ...symmetric, model_info: { class_params } })
  expect(model.apply(facts(3, true), [])).toBeCloseTo(bounded(-(2 * 2.125 + 0.1)), 12)
})

test('the calibration changes the log odds', () => {
  const model = load(symmetric, { slope: 0.5, intercept: -1 })
  expect(model.apply(facts(3, true), [])).toBeCloseTo(bounded(0.5 * 4.35 - 1), 12)
})

const withFeatures = (more: object) => ({
  ...symmetric,
  features_info: { ...symmetric.features_info, ...more },
})
const withTree = (tree: object) => ({ ...symmetric, oblivious_trees: [tree] })
const deep = (levels: number): unknown =>
  levels === 0
    ? { value: 1 }
    : { split: question(0, levels), left: { value: 0 }, right: deep(levels - 1) }
const treeless = { ...symmetric, oblivious_trees: undefined }

test.for<[string, unknown, RegExp]>([
  ['no object', 7, /not a CatBoost model/],
  ['no trees', treeless, /no trees/],
  ['categories', withFeatures({ categorical_features: [{}] }), /categorical_features\. Only float/],
  ['ctrs', withFeatures({ ctrs: [{}] }), /ctrs\. Only float/],
  [
    'one-hot questions',
    withTree({ leaf_values: [0, 1], splits: [{ ...question(0, 1), split_type: 'OneHotFeature' }] }),
    /one-hot or CTR/,
  ],
  ['leaves of several classes', withTree({ leaf_values: [0, 1, 2, 3], splits: [] }), /one value/],
  ['too few leaves', withTree({ leaf_values: [0], splits: [question(0, 1)] }), /one value/],
  [
    'a feature beyond',
    withTree({ leaf_values: [0, 1], splits: [question(3, 1)] }),
    /feature that does not exist/,
  ],
  [
    'too many levels',
    withTree({ leaf_values: [0], splits: Array.from({ length: 17 }, () => question(0, 1)) }),
    /levels/,
  ],
  [
    'nameless features',
    withFeatures({ float_features: [feature(0, '', [])] }),
    /names of the features must/,
  ],
  [
    'a feature twice',
    withFeatures({ float_features: [feature(0, 'a.b', []), feature(0, 'a.c', [])] }),
    /numbered/,
  ],
  [
    'another loss',
    { ...symmetric, model_info: { params: { loss_function: { type: 'RMSE' } } } },
    /RMSE/,
  ],
  [
    'other classes',
    { ...symmetric, model_info: { class_params: { class_names: ['cat', 'dog'] } } },
    /classes/,
  ],
  ['a tree too deep', { ...treeless, trees: [deep(80)] }, /more than 64 levels/],
  ['a node that is none', { ...treeless, trees: [{ split: {} }] }, /neither a leaf/],
])('a file with %s is refused with the reason', ([, file, reason]) => {
  expect(() => load(file)).toThrow(ModelFault)
  expect(() => load(file)).toThrow(reason)
})

test.for([
  ['no JSON', 'catboost', Buffer.from('{"oblivious_trees": [')],
  ['nesting without end', 'catboost', Buffer.from('['.repeat(2_000_000))],
  ['no header', 'linear', Buffer.from('PK nothing')],
  ['nothing at all', 'linear', Buffer.alloc(0)],
] as const)('bytes that hold %s are refused', ([, format, content]) => {
  const kept = { version: 1, format, content, calibration: identity }
  expect(() => loadModel(kept)).toThrow(ModelFault)
})
