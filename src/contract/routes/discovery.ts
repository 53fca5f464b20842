import { Type } from 'typebox';
import { paginated, success, successWith } from '../envelopes.ts';
import { scanQuery } from '../parameters.ts';
import { uuid } from '../resources/fields.ts';
import { NoScan, Scan, ScanInput } from '../resources/scan.ts';
import { analysts, closed, json, list, type Route, readers } from './route.ts';

const scanParams = Type.Object({ scan_id: uuid('Identifier of the scan.') }, closed);

/** Active discovery scans of the network. */
export const discoveryRoutes = {
  startScan: {
    method: 'POST',
    path: '/api/v1/discovery/scan',
    summary: 'Start a discovery scan; scans run one at a time and queue',
    tag: 'discovery',
    access: analysts,
    audited: 'each',
    body: { kind: 'json', schema: ScanInput, resource: Scan },
    responses: { 202: json(success('scan')) },
  },
  getScanStatus: {
    method: 'GET',
    path: '/api/v1/discovery/status',
    summary: 'Get the running scan, else the last one, else the status idle',
    tag: 'discovery',
    access: readers,
    responses: { 200: json(successWith('scan', Type.Union([Scan, NoScan]))) },
  },
  listScans: {
    method: 'GET',
    path: '/api/v1/discovery/history',
    summary: 'List scans',
    tag: 'discovery',
    access: readers,
    query: scanQuery,
    responses: { 200: list(paginated('scan')) },
  },
  getScan: {
    method: 'GET',
    path: '/api/v1/discovery/scan/:scan_id',
    summary: 'Get a scan',
    tag: 'discovery',
    access: readers,
    params: scanParams,
    responses: { 200: json(success('scan')) },
    errors: ['NOT_FOUND'],
  },
  cancelScan: {
    method: 'POST',
    path: '/api/v1/discovery/scan/:scan_id/cancel',
    summary: 'Cancel a queued or running scan; returns once it has stopped',
    tag: 'discovery',
    access: analysts,
    audited: 'each',
    params: scanParams,
    responses: { 200: json(success('scan')) },
    errors: ['NOT_FOUND', 'INVALID_TRANSITION'],
  },
} as const satisfies Record<string, Route>;
