import { describe, expect, it } from 'vitest';
import { channels } from '../../src/contract/channels.ts';
import { openApiDocument } from '../../src/contract/openapi.ts';
import { type OperationId, operationIds, routeOf } from '../../src/contract/routes.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: object;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly security: readonly object[];
  readonly responses: Readonly<Record<string, { description: string; headers?: Readonly<Record<string, object>> }>>;
  readonly tags: readonly string[];
}
interface Document {
  readonly openapi: string;
  readonly tags: readonly { name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly securitySchemes: object;
  };
}

const document = openApiDocument('1.2.3') as unknown as Document;
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);

/** Returns every value of the key anywhere in the document. */
function* under(value: unknown, key: string): Generator<unknown> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    if (name === key) yield item;
    yield* under(item, key);
  }
}

describe('the OpenAPI document', () => {
  it('is deterministic', () => {
    expect(JSON.stringify(openApiDocument('1.2.3'))).toBe(JSON.stringify(document));
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });

  it('documents the header with the number of damaged events on responses with whole event lists', () => {
    const having = operations.filter(({ operation }) =>
      Object.values(operation.responses).some(({ headers }) => headers?.['X-Damaged-Events'] !== undefined),
    );
    expect(having.map(({ operation }) => operation.operationId).toSorted()).toEqual([
      'listDnsEvents',
      'listNetworkEvents',
    ]);
  });

  it('has every operation of the table once', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(operations.map(({ operation }) => operation.operationId).toSorted()).toEqual(operationIds.toSorted());
  });

  it('has the format date-time for every time', () => {
    expect([...under(document, 'format')]).not.toContain('time');
    const times = [...under(document, 'properties')].flatMap((properties) =>
      Object.entries(properties as object).filter(([name]) => /^timestamp$|(?<!looked)_at$/.test(name)),
    );
    expect(times.length).toBeGreaterThan(50);
    for (const [name, schema] of times) expect(schema, name).toHaveProperty('format', 'date-time');
  });

  it('references only components that exist, and has no other references', () => {
    const references = [...under(document, '$ref')];
    expect(references.length).toBeGreaterThan(0);
    for (const reference of references) {
      const name = /^#\/components\/schemas\/([A-Za-z]+)$/.exec(String(reference))?.[1];
      expect(document.components.schemas, String(reference)).toHaveProperty(String(name));
    }
    const anywhere = new Set(references);
    const ids = [...under(document, '$id')];
    expect(ids).toEqual([]);
    expect(anywhere).toContain('#/components/schemas/Alert');
  });

  it.each(operations)('$method $path declares its parameters, responses, tag and security', ({ path, operation }) => {
    const { parameters = [], responses, tags, security } = operation;
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(path).not.toContain(':');
    expect(parameters.filter((one) => one.in === 'path').map(({ name }) => name)).toEqual(inPath);
    for (const one of parameters) {
      expect(one.schema, one.name).toHaveProperty('type');
      if (one.in === 'path') expect(one.required).toBe(true);
    }
    const keys = parameters.map((one) => `${one.in} ${one.name}`);
    expect(new Set(keys).size).toBe(keys.length);
    for (const [status, { description }] of Object.entries(responses)) {
      expect(status).toMatch(/^[1-5]\d\d$/);
      expect(description).not.toBe('');
    }
    expect(document.tags.map(({ name }) => name)).toContain(tags[0]);
    const { access, partlyPublic } = routeOf(operation.operationId as OperationId);
    const optional = partlyPublic ? [{}] : [];
    const credentials = [...optional, { bearer: [] }, { certificate: [] }];
    expect(security).toEqual(access === 'public' ? [] : credentials);
  });

  it('has no two path templates that differ only in the name of a parameter', () => {
    const templates = Object.keys(document.paths).map((path) => path.replaceAll(/\{\w+\}/g, '{}'));
    expect(new Set(templates).size).toBe(templates.length);
  });

  it('describes all resources and the WebSocket messages', () => {
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining([
        'Asset',
        'AssetInput',
        'AssetHistory',
        'Service',
        'Alert',
        'Topology',
        'Scan',
        'SubscribeMessage',
        'EventMessage',
        'Error',
      ]),
    );
  });

  it('keeps a property named `title` instead of replacing its schema by a reference', () => {
    expect(document.components.schemas).toHaveProperty('Alert.properties.title.type', 'string');
  });
});

it('the WebSocket operation lists the channels and the operation that permits each', () => {
  const { description } = document.paths['/ws']!.get as unknown as { description: string };
  for (const [name, { operation }] of Object.entries(channels)) expect(description).toContain(`${name} (${operation})`);
  for (const operation of operationIds) {
    const channel = routeOf(operation).websocket?.channel;
    if (channel !== undefined) expect(channels[channel].operation).toBe(operation);
  }
});
