"""Redis or Valkey for several instances: one bounded pool of connections, and a short time limit on every answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runvil.core.config import ConfigError

if TYPE_CHECKING:
    from redis.asyncio import Redis as Connection

CONNECTIONS = 32
"""At most so many to one server. Whoever finds none free waits for one."""

ANSWER = 2.0
"""Seconds for a connection, for an answer, and for a free connection: a limit that is late is as good as lost."""


class Redis:
    """client: of `redis.asyncio`. Nothing is connected until it is used."""

    def __init__(self, address: str) -> None:
        try:
            from redis import asyncio as redis  # noqa: PLC0415  an extra of its own
            from redis.asyncio.retry import Retry  # noqa: PLC0415
            from redis.backoff import NoBackoff  # noqa: PLC0415
        except ImportError as error:
            raise ConfigError("a redis:// store needs the extra runvil[redis]") from error
        options: dict[str, Any] = {
            "max_connections": CONNECTIONS,
            "timeout": ANSWER,
            "socket_timeout": ANSWER,
            "socket_connect_timeout": ANSWER,
            "retry": Retry(NoBackoff(), 1),  # a kept connection may have been closed by a restarted server
        }
        try:
            pool = redis.BlockingConnectionPool.from_url(address, **options)
        except ValueError as error:
            raise ConfigError("the address of a redis:// store cannot be read") from error
        self.client: Connection = redis.Redis(connection_pool=pool)

    async def aclose(self) -> None:
        await self.client.aclose()
        await self.client.connection_pool.disconnect()


def _lost() -> tuple[type[Exception], ...]:
    try:
        from redis.exceptions import RedisError  # noqa: PLC0415
    except ImportError:
        return (OSError,)
    return (RedisError, OSError)  # TimeoutError is an OSError


LOST = _lost()
"""What a lost store raises."""
