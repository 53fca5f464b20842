import type { AssetUpdateInput } from '../../../contract/resources/asset.ts';
import { ServiceError } from '../../../errors.ts';
import type { Asset } from './question.ts';

/** What is typed about an asset: a text each, lists with a line for each item. All pure. */
export const listFields = ['ip_addresses', 'mac_addresses', 'hostnames', 'tags'] as const;
export type ListField = (typeof listFields)[number];
const textFields = ['name', 'kind', 'criticality', 'state', 'owner', 'os', 'vendor', 'notes'] as const;
export type TextField = (typeof textFields)[number];
export type FormField = TextField | ListField;
export type AssetForm = Readonly<Record<FormField, string>>;

export const emptyForm: AssetForm = {
  name: '',
  kind: 'unknown',
  criticality: 'medium',
  state: 'managed',
  owner: '',
  os: '',
  vendor: '',
  notes: '',
  ip_addresses: '',
  mac_addresses: '',
  hostnames: '',
  tags: '',
};

export function formOf(asset: Asset): AssetForm {
  const texts = textFields.map((name) => [name, asset[name] ?? '']);
  const lists = listFields.map((name) => [name, asset[name].join('\n')]);
  return Object.fromEntries([...texts, ...lists]) as AssetForm;
}

/** The items of a list: between them stand line ends or commas; of addresses spaces, too. */
export const itemsOf = (field: ListField, text: string): string[] =>
  text
    .split(field === 'tags' ? /[\n,]+/ : /[\s,]+/)
    .map((item) => item.trim())
    .filter((item, index, all) => item !== '' && all.indexOf(item) === index);

/** What of the form is other than it was, as the service takes it. */
export function changesOf(before: AssetForm, form: AssetForm): AssetUpdateInput {
  const texts = textFields
    .filter((name) => form[name].trim() !== before[name].trim())
    .map((name) => [name, form[name].trim()]);
  const lists = listFields
    .map((name) => [name, itemsOf(name, form[name]), itemsOf(name, before[name])] as const)
    .filter(([, now, then]) => now.join('\n') !== then.join('\n'))
    .map(([name, now]) => [name, now]);
  return Object.fromEntries([...texts, ...lists]) as AssetUpdateInput;
}

/** What was typed on what the form began with, put on what has been saved by somebody else meanwhile. */
export function rebased(began: AssetForm, typed: AssetForm, saved: AssetForm): AssetForm {
  const names = [...textFields, ...listFields];
  return Object.fromEntries(
    names.map((name) => [name, typed[name] === began[name] ? saved[name] : typed[name]]),
  ) as AssetForm;
}

export interface FormFault {
  /** Undefined where it is about none of the fields. */
  readonly field: FormField | undefined;
  readonly text: string;
  /** The asset that has what was asked for. */
  readonly holder?: string;
}

/** What the service refused, at the field that it names: of a list with the item that is meant. */
export function faultOf(error: unknown, sent: AssetUpdateInput): FormFault {
  if (!(error instanceof ServiceError)) return { field: undefined, text: String(error) };
  const { field: path, reason, asset_id: holder } = error.details ?? {};
  const [name, index] = typeof path === 'string' ? path.split('.') : [];
  const field = [...textFields, ...listFields].find((one) => one === name);
  if (field === undefined || typeof reason !== 'string') return { field: undefined, text: error.message };
  const value =
    index === undefined ? undefined : (sent[field] as readonly string[] | undefined)?.[Number(index)];
  return {
    field,
    text: value === undefined ? reason : `${value} ${reason}`,
    ...(typeof holder === 'string' && { holder }),
  };
}
