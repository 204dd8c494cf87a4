"""What the page of things to open fetches and sends: thumbnails, files that arrive, pages that play runs."""

import contextlib
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse, Response

from supple.errors import SuppleError
from supple.studio.shelf.shelf import Shelf
from supple.studio.shelf.uploads import TooLargeError

TOO_LARGE, BAD, NOTHING = 413, 400, 404


def add_shelf(app: FastAPI, shelf: Shelf) -> None:
    """/thumbnails/NAME; /upload?name=NAME&key=KEY takes the bytes of a file; /runs/KEY plays a recent run."""

    @app.get("/thumbnails/{name}")
    async def thumbnail(name: str) -> Response:
        path = shelf.thumbnail(name)
        return Response(status_code=NOTHING) if path is None else FileResponse(path, media_type="image/webp")

    @app.post("/upload")
    async def upload(request: Request, name: str = "", key: str = "") -> Response:
        try:
            declared = 0
            with contextlib.suppress(ValueError):
                declared = int(request.headers.get("content-length", "0"))
            if declared > shelf.uploads.largest:
                raise TooLargeError("the upload is too large", where=name[:60],
                                    allowed=f"{shelf.uploads.largest >> 20} MB")  # fmt: skip
            return JSONResponse({"key": await shelf.uploads.take(key, name, request.stream())})
        except TooLargeError as error:
            return JSONResponse({"error": str(error)}, status_code=TOO_LARGE)
        except SuppleError as error:
            return JSONResponse({"error": str(error)}, status_code=BAD)

    @app.get("/runs/{key}")
    async def played(key: str) -> Response:
        try:
            path: Path = await run_in_threadpool(shelf.page_of, key)
        except SuppleError as error:
            return PlainTextResponse(str(error), status_code=NOTHING)
        return FileResponse(path, media_type="text/html", headers={"cache-control": "no-store"})
