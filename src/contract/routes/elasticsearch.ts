import { Type } from 'typebox';
import { anyObject, parameters, text } from '../resources/fields.ts';
import { receiptHeaders } from './receipts.ts';
import { get, json, type Method, post, put, sharing } from './route.ts';

const senders = ['sensor', 'admin'] as const;

const given = (description: string) => Type.Optional(text(description, { minLength: 0, maxLength: 1024 }));
/**
 * Parameters that are accepted because clients send them. They have no effect: there are no indices, pipelines or
 * shards.
 */
const unused = given('Accepted for compatibility with Elasticsearch; has no effect.');

const filter_path = given('Parts of the response to return, in the syntax of Elasticsearch.');
const ofEvery = { filter_path, pretty: unused, human: unused, error_trace: unused };

const bulkQuery = parameters({
  ...ofEvery,
  sensor: Type.Optional(text('Name of the sensor.', { minLength: 1, maxLength: 200 })),
  pipeline: unused,
  refresh: unused,
  routing: unused,
  timeout: unused,
  type: unused,
  op_type: unused,
  wait_for_active_shards: unused,
  require_alias: unused,
  require_data_stream: unused,
  list_executed_pipelines: unused,
  include_source_on_error: unused,
  include_type_name: unused,
  _source: unused,
  _source_includes: unused,
  _source_excludes: unused,
});

const probeQuery = parameters({
  ...ofEvery,
  create: unused,
  flat_settings: unused,
  format: unused,
  h: unused,
  include_type_name: unused,
  level: unused,
  local: unused,
  master_timeout: unused,
  order: unused,
  timeout: unused,
  v: unused,
  wait_for_status: unused,
});

const answered = (description: string) => ({ 200: json(anyObject(description)) });

const bulk = {
  query: bulkQuery,
  headers: receiptHeaders,
  body: {
    kind: 'ingest',
    mediaTypes: [
      'application/x-ndjson',
      'application/json',
      'application/vnd.elasticsearch+x-ndjson',
      'application/vnd.elasticsearch+json',
    ],
    schema: anyObject('Actions (create or index), each followed by its document on the next line.'),
  },
  responses: answered('Result of each item, in order, in the format of Elasticsearch.'),
} as const;

const everywhere = <M extends Method>(method: M, paths: readonly string[]) => paths.map((path) => ({ method, path }));

/** The part of the Elasticsearch API that shippers use. */
export const elasticsearchRoutes = sharing({ tag: 'shippers', access: senders, protocol: 'elasticsearch' })({
  elasticsearchInfo: get('/', 'Get the name and version that Elasticsearch clients check first', {
    query: probeQuery,
    partlyPublic: true,
    responses: answered('Name and version, in the format of Elasticsearch.'),
  }),
  elasticsearchBulk: post('/_bulk', 'Ingest records with the Elasticsearch bulk API', {
    ...bulk,
    also: [{ method: 'PUT', path: '/_bulk' }],
  }),
  elasticsearchBulkOfIndex: post(
    '/:index/_bulk',
    'Ingest records with the Elasticsearch bulk API; the index name is only repeated in the response',
    { ...bulk, also: [{ method: 'PUT', path: '/:index/_bulk' }] },
  ),
  elasticsearchProbe: get(
    '/_license',
    'Answer the startup probes of shippers: report that everything they would set up exists',
    {
      also: everywhere('GET', [
        '/_xpack',
        '/_cluster/health',
        '/_cluster/health/:index',
        '/_cat/:about*',
        '/_nodes',
        '/_nodes/:about*',
        '/_ilm/:about*',
        '/_ilm/policy/:name',
        '/_template',
        '/_template/:name',
        '/_index_template',
        '/_index_template/:name',
        '/_component_template',
        '/_component_template/:name',
        '/_data_stream',
        '/_data_stream/:name',
        '/_ingest/:about*',
        '/_ingest/pipeline/:name',
        '/_logstash/:about*',
        '/_logstash/pipeline/:name',
      ]),
      query: probeQuery,
      responses: answered('The fields of the Elasticsearch response that shippers read.'),
    },
  ),
  elasticsearchSetup: put(
    '/_index_template/:name',
    'Acknowledge templates, policies and pipelines of shippers without storing them',
    {
      also: everywhere('PUT', [
        '/_template/:name',
        '/_component_template/:name',
        '/_data_stream/:name',
        '/_ilm/policy/:name',
        '/_ingest/pipeline/:name',
        '/_logstash/pipeline/:name',
      ]),
      query: probeQuery,
      responses: answered('An acknowledgement.'),
    },
  ),
});
