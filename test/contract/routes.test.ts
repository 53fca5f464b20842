import { describe, expect, it } from 'vitest';
import { assertResponse } from '../../scripts/contract-assertions.ts';
import { resourceTypes } from '../../src/contract/resource-types.ts';
import { errorsOf, operationIds, type Route, routeOf } from '../../src/contract/routes.ts';
import { validate } from '../../src/contract/validate.ts';
import { alertTransitions, mayBecome, roles } from '../../src/contract/vocabulary.ts';
import { writeTreeHead } from '../../src/contract/write-tree-head.ts';
import { type ErrorCode, errorCodes } from '../../src/errors.ts';

const all: [string, Route][] = operationIds.map((operation) => [operation, routeOf(operation)]);

describe('the table of routes', () => {
  it('has each method and path once', () => {
    const keys = all
      .flatMap(([, { method, path, also = [] }]) => [{ method, path }, ...also])
      .map(({ method, path }) => `${method} ${path.replaceAll(/:\w+\*?/g, ':')}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it.each(all)('%s declares its parameters, responses and roles', (_, route) => {
    const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name);
    expect(Object.keys(route.params?.properties ?? {})).toEqual(inPath);
    for (const name of inPath) expect(route.params?.required).toContain(name);
    expect(Object.keys(route.responses).length).toBeGreaterThan(0);
    if (route.access !== 'public') for (const role of route.access) expect(roles).toContain(role);
    if (route.method === 'DELETE') expect(route.responses[204]).toEqual({ kind: 'none' });
    if (route.websocket) expect(route.responses[101]).toEqual({ kind: 'none' });
    for (const schema of [route.params, route.query, route.headers])
      if (schema) expect(schema).toHaveProperty('additionalProperties', false);
  });

  it('has a description of every parameter and every attribute', () => {
    const undescribed: string[] = [];
    const visit = (where: string, properties: Record<string, unknown>) => {
      for (const [name, property] of Object.entries(properties)) {
        const { description, title, items, enum: values } = property as Record<string, unknown>;
        const said = description ?? title ?? (items as { description?: string } | undefined)?.description ?? values;
        if (said === undefined) undescribed.push(`${where}.${name}`);
      }
    };
    for (const [operation, route] of all)
      for (const part of [route.params, route.query, route.headers]) if (part) visit(operation, part.properties);
    for (const [type, schema] of Object.entries(resourceTypes)) visit(type, schema.properties);
    expect(undescribed).toEqual([]);
  });

  it('makes only the operations of the contract public', () => {
    expect(all.filter(([, { access }]) => access === 'public').map(([, { path }]) => path)).toEqual([
      '/auth/login',
      '/auth/refresh',
      '/services/collector/health',
      '/api/v1/openapi.json',
      '/health',
      '/metrics',
      '/api/transparency/sth',
      '/api/transparency/inclusion',
      '/api/transparency/consistency',
      '/api/transparency/sths',
      '/checkpoint',
      '/tile/:tile*',
      '/api/transparency/key-history',
      '/api/transparency/keys',
      '/.well-known/jwks.json',
    ]);
  });

  it('permits each role the operations of the contract', () => {
    const may = (role: (typeof roles)[number]) =>
      all.filter(([, { access }]) => access !== 'public' && access.includes(role)).map(([operation]) => operation);
    expect(may('sensor')).toEqual([
      'logout',
      'whoAmI',
      'changePassword',
      'ingest',
      'ingestNetworkEvents',
      'ingestDnsEvents',
      'elasticsearchInfo',
      'elasticsearchBulk',
      'elasticsearchBulkOfIndex',
      'elasticsearchProbe',
      'elasticsearchSetup',
      'splunkEvent',
      'splunkRaw',
      'splunkAck',
      'otlpLogs',
      'getReceipt',
    ]);
    const entryReads = ['getLeaf', 'listEntries', 'getProofBundle', 'getEntryBundle'];
    expect(may('auditor')).toEqual(['logout', 'whoAmI', 'changePassword', 'getReceipt', ...entryReads]);
    expect(may('admin')).toEqual(all.filter(([, { access }]) => access !== 'public').map(([operation]) => operation));
    const analystOnly = may('analyst').filter((operation) => !may('viewer').includes(operation));
    expect(analystOnly).toEqual([
      'getReceipt',
      'getNetworkEventProof',
      'getDnsEventProof',
      'bulkUpdateAlerts',
      'updateAlert',
      'addAlertNote',
      'createAsset',
      'updateAsset',
      'deleteAsset',
      'mergeAsset',
      'splitAsset',
      'startScan',
      'cancelScan',
      'validateRule',
      'testRule',
      'createSilence',
      'updateSilence',
      'deleteSilence',
      ...entryReads,
    ]);
    // A bundle has entries of all kinds, so no part of it is public.
    const partly = all.filter(([, { partlyPublic }]) => partlyPublic).map(([operation]) => operation);
    expect(partly).toEqual(['elasticsearchInfo', 'getLeaf', 'listEntries', 'getProofBundle']);
    for (const { method, tag } of may('viewer').map((operation) => routeOf(operation as never)))
      if (tag !== 'auth') expect(method).toBe('GET');
  });

  it('has a schema for every resource of the contract', () => {
    expect(Object.keys(resourceTypes)).toEqual([
      ...[
        'asset',
        'asset_history',
        'network_event',
        'dns_event',
        'event_proof',
        'alert',
        'alert_history',
        'alert_note',
        'service',
        'topology',
        'topology_update',
        'scan',
        'config',
      ],
      ...[
        'dashboard',
        'histogram',
        'value_counts',
        'risk_history',
        'risk_score',
        'trends',
        'triage_model',
        'principal',
        'token',
        'key',
        'policy',
        'rule',
        'silence',
        'intel_list',
        'backup',
        'receipt',
      ],
      ...['audit_record', 'status'],
    ]);
  });

  it('derives the errors of every operation from its definition', () => {
    expect(errorsOf(routeOf('getHealth'))).toEqual([
      ...['INVALID_REQUEST', 'RATE_LIMITED', 'INTERNAL', 'OVERLOADED', 'UNAVAILABLE'],
    ]);
    expect(errorsOf(routeOf('updateAlert'))).toEqual([
      ...[
        'NOT_FOUND',
        'CONFLICT',
        'INVALID_TRANSITION',
        'VERSION_MISMATCH',
        'INVALID_REQUEST',
        'UNAUTHENTICATED',
        'FORBIDDEN',
      ],
      ...['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'RATE_LIMITED', 'INTERNAL', 'OVERLOADED', 'UNAVAILABLE'],
    ]);
  });
});

it('the catalogue of error codes and their statuses is as published', () => {
  expect(Object.fromEntries(Object.entries(errorCodes).map(([code, { status }]) => [code, status]))).toEqual({
    INVALID_REQUEST: 400,
    UNAUTHENTICATED: 401,
    FORBIDDEN: 403,
    NOT_FOUND: 404,
    METHOD_NOT_ALLOWED: 405,
    CONFLICT: 409,
    INVALID_TRANSITION: 409,
    VERSION_MISMATCH: 412,
    PAYLOAD_TOO_LARGE: 413,
    UNSUPPORTED_MEDIA_TYPE: 415,
    RATE_LIMITED: 429,
    INTERNAL: 500,
    LOG_EMPTY: 503,
    OVERLOADED: 503,
    UNAVAILABLE: 503,
    WORKER_LOST: 503,
    CANCELLED: 503,
  } satisfies Record<ErrorCode, number>);
});

it('an alert changes its status only as the contract allows', () => {
  expect(alertTransitions).toEqual({
    new: ['in_progress', 'resolved', 'suppressed'],
    in_progress: ['new', 'resolved', 'suppressed'],
    resolved: ['in_progress', 'archived'],
    suppressed: ['in_progress', 'archived'],
    archived: [],
  });
  expect(mayBecome('new', 'archived')).toBe(false);
  expect(mayBecome('archived', 'new')).toBe(false);
  expect(mayBecome('resolved', 'archived')).toBe(true);
  expect(mayBecome('archived', 'archived')).toBe(true);
});

describe('a signed tree head', () => {
  const head = {
    tree_size: 3,
    root_hash: 'ab'.repeat(32),
    timestamp_ns: Number(1_763_680_500_123_456_512n),
    signature: 'cd'.repeat(64),
    signer_key_id: '0199b1c2-0000-7000-8000-000000000000',
  };

  it('is serialised with the exact digits of its timestamp, which a double would not print', () => {
    expect(JSON.stringify(head)).not.toContain('1763680500123456512');
    expect(writeTreeHead(head)).toContain('"timestamp_ns":1763680500123456512,');
    expect(JSON.parse(writeTreeHead(head))).toEqual(head);
    assertResponse('getTreeHead', 200, JSON.parse(writeTreeHead(head)));
  });

  it('is rejected with a timestamp that a double cannot represent', () => {
    expect(() => assertResponse('getTreeHead', 200, { ...head, timestamp_ns: head.timestamp_ns + 256 })).toThrow();
  });
});

it('no optional attribute may be null', () => {
  for (const schema of Object.values(resourceTypes)) {
    const required: readonly string[] = schema.required ?? [];
    for (const name of Object.keys(schema.properties))
      if (!required.includes(name)) expect(() => validate(schema, { [name]: null })).toThrow();
  }
});
