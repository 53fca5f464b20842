import { Type } from 'typebox';
import { paginated, success, successWith } from '../envelopes.ts';
import { scanQuery } from '../parameters.ts';
import { parameters, uuid } from '../resources/fields.ts';
import { NoScan, Scan, ScanInput } from '../resources/scan.ts';
import { analysts, json, list, type RoutesWithout, readers, sharing } from './route.ts';

const scanParams = parameters({ scan_id: uuid('Identifier of the scan.') });

/** Active discovery scans of the network. */
export const discoveryRoutes = sharing({ tag: 'discovery', access: readers, method: 'GET' }, {
  startScan: {
    method: 'POST',
    path: '/api/v1/discovery/scan',
    summary: 'Start a discovery scan; scans run one at a time and queue',
    access: analysts,
    audited: 'each',
    body: { kind: 'json', schema: ScanInput, resource: Scan },
    responses: { 202: json(success('scan')) },
  },
  getScanStatus: {
    path: '/api/v1/discovery/status',
    summary: 'Get the running scan, or the most recent scan, or the status idle before the first scan',
    responses: { 200: json(successWith('scan', Type.Union([Scan, NoScan]))) },
  },
  listScans: {
    path: '/api/v1/discovery/history',
    summary: 'List scans',
    query: scanQuery,
    responses: { 200: list(paginated('scan')) },
  },
  getScan: {
    path: '/api/v1/discovery/scan/:scan_id',
    summary: 'Get a scan',
    params: scanParams,
    responses: { 200: json(success('scan')) },
    errors: ['NOT_FOUND'],
  },
  cancelScan: {
    method: 'POST',
    path: '/api/v1/discovery/scan/:scan_id/cancel',
    summary: 'Cancel a queued or running scan; returns once it has stopped',
    access: analysts,
    audited: 'each',
    params: scanParams,
    responses: { 200: json(success('scan')) },
    errors: ['NOT_FOUND', 'INVALID_TRANSITION'],
  },
} as const satisfies RoutesWithout<'tag' | 'access' | 'method'>);
