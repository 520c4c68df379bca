export interface Service {
  readonly name: string;
  /** Handed to us by the user: checked, never started or stopped. */
  readonly isExternal: boolean;
  readonly address: string;
  readonly ports: readonly number[];
  /** What `reset` deletes. */
  readonly dataDir: string;
  /** Debian packages still to install; throws a Problem when this machine cannot provide the service. */
  missingPackages(): readonly string[];
  /** The pid of the process we started, if it runs. */
  pid(): number | undefined;
  answers(): Promise<boolean>;
  start(): Promise<void>;
  /** What must hold in a running service, whether we started it now or long ago. */
  prepare(): Promise<void>;
  /** True if there was something to stop. */
  stop(): Promise<boolean>;
  version(): Promise<string>;
}
