import type { TObject, TString } from 'typebox';
import { parameters, text, uuid } from '../resources/fields.ts';

/** Every parameter of a path by name. */
const pathParameters = {
  alert_id: uuid('Identifier of the alert.'),
  asset_id: uuid('Identifier of the asset.'),
  backup_id: uuid('Identifier of the backup.'),
  event_id: uuid('Identifier of the event.'),
  intel_id: uuid('Identifier of the list.'),
  key_id: uuid('Identifier (kid) of the key.'),
  principal_id: uuid('Identifier of the principal.'),
  receipt_id: uuid('Identifier of the receipt.'),
  rule_id: uuid('Identifier of the rule.'),
  scan_id: uuid('Identifier of the scan.'),
  service_id: uuid('Identifier of the service.'),
  silence_id: uuid('Identifier of the silence.'),
  token_id: uuid('Identifier (jti) of the token.'),
  // The longest valid tile path has 37 characters.
  tile: text('<L>/<N> for a full tile, <L>/<N>.p/<W> for a partial tile of W hashes; N in groups of three digits.', {
    minLength: 1,
    maxLength: 64,
  }),
  bundle: text('<N> for a full bundle, <N>.p/<W> for a partial bundle of W entries; N in groups of three digits.', {
    minLength: 1,
    maxLength: 64,
  }),
  index: text('Index name for items without one.', { minLength: 1, maxLength: 255 }),
  name: text('Name of the template, policy or pipeline.', { minLength: 1 }),
} as const satisfies Readonly<Record<string, TString>>;

type ParameterName<Segment extends string> = Segment extends `:${infer Name}*`
  ? Name
  : Segment extends `:${infer Name}`
    ? Name
    : never;
type ParameterNames<Path extends string> = Path extends `${infer Segment}/${infer Rest}`
  ? ParameterName<Segment> | ParameterNames<Rest>
  : ParameterName<Path>;

/** The member `params` of a route; absent if the path has no parameters. */
export type Params<Path extends string> =
  ParameterNames<Path> extends never
    ? Readonly<Record<never, never>>
    : { readonly params: TObject<{ [Name in ParameterNames<Path>]: TString }> };

/** Returns the member `params` of the route with this path, such as `/api/v1/alerts/:alert_id`. */
export function paramsOf<const Path extends string>(path: Path): Params<Path> {
  const named = [...path.matchAll(/:(\w+)/g)].map(([, name]) => [name, schemaOf(name!)]);
  return (named.length === 0 ? {} : { params: parameters(Object.fromEntries(named)) }) as unknown as Params<Path>;
}

function schemaOf(name: string): TString {
  const schema = (pathParameters as Readonly<Record<string, TString>>)[name];
  if (schema === undefined) throw new Error(`the path parameter ${name} is not declared in path-parameters.ts`);
  return schema;
}
