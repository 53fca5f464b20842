import type { AssetUpdateInput } from '../../../contract/resources/asset.ts';
import { ServiceError } from '../../../errors.ts';
import type { Asset } from './question.ts';

/** The form fields of an asset, as texts; lists have one item per line. All functions here are pure. */

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

/** Splits a list at newlines and commas and, except for tags, at spaces. Removes duplicates. */
export const itemsOf = (field: ListField, text: string): string[] =>
  text
    .split(field === 'tags' ? /[\n,]+/ : /[\s,]+/)
    .map((item) => item.trim())
    .filter((item, index, all) => item !== '' && all.indexOf(item) === index);

/** Returns the changed fields in the request format of the API. */
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

/** Applies the user's edits of the initial form to a version that another user has saved since. */
export function rebased(initial: AssetForm, typed: AssetForm, saved: AssetForm): AssetForm {
  const names = [...textFields, ...listFields];
  return Object.fromEntries(
    names.map((name) => [name, typed[name] === initial[name] ? saved[name] : typed[name]]),
  ) as AssetForm;
}

export interface FormFault {
  /** The form field; undefined if the error does not concern a single field. */
  readonly field: FormField | undefined;
  readonly text: string;
  /** The ID of the asset that already has the address. */
  readonly holder?: string;
}

/** Returns an error of the service with its form field; for lists, the text names the item. */
export function faultOf(error: unknown, sent: AssetUpdateInput): FormFault {
  if (!(error instanceof ServiceError)) return { field: undefined, text: String(error) };
  const { field: path, reason, asset_id: holder } = error.details ?? {};
  const [name, index] = typeof path === 'string' ? path.split('.') : [];
  const field = [...textFields, ...listFields].find((one) => one === name);
  if (field === undefined || typeof reason !== 'string') return { field: undefined, text: error.message };
  const value = index === undefined ? undefined : (sent[field] as readonly string[] | undefined)?.[Number(index)];
  return {
    field,
    text: value === undefined ? reason : `${value} ${reason}`,
    ...(typeof holder === 'string' && { holder }),
  };
}
